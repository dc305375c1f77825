import { Context, Effect, Layer } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import type { DatabaseAddress } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import { Bus, noStats } from "./bus.ts"
import { announceOutside, wakeOutside } from "./cli-notifications.ts"
import { type ClusterOptions, clusterTimes, openTransport } from "./layer.ts"

/**
 * The bus of the command line, which changes the database directly and exits when it is done. It has no caches and is no
 * member, but the members acknowledge its changes before they are committed. It connects at its first change.
 */
export const cliBus = (config: ClusterOptions["config"], database: DatabaseAddress) =>
  Layer.effect(
    Bus,
    Effect.gen(function* () {
      const sql = yield* Sql
      const scope = yield* Effect.scope
      const guest = Bus.layer({
        ...clusterTimes,
        statementMs: config.statementTimeoutMs,
        link: {
          ...openTransport({ config, database }, sql, {}),
          isGuest: true,
          announce: (changes) => announceOutside(sql, changes),
        },
      })
      const opened = yield* Effect.cached(
        Layer.buildWithScope(guest, scope).pipe(
          Effect.map(Context.get(Bus)),
          Effect.mapError(
            () => new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 }),
          ),
        ),
      )
      const wake = (topic: string, payload: string) => void Effect.runFork(wakeOutside(sql, topic, payload))
      return Bus.of({
        mayServe: () => false,
        isMarked: () => true,
        invalidating: (changes) => (statement) =>
          Effect.flatMap(opened, (bus) => bus.invalidating(changes)(statement)),
        invalidate: (topic, keys) => Effect.flatMap(opened, (bus) => bus.invalidate(topic, keys)),
        onInvalidate: () => () => {},
        forget: () => {},
        forgetAll: () => {},
        publish: wake,
        wakeHere: () => {},
        wakeOthers: wake,
        subscribe: () => () => {},
        onGap: () => () => {},
        isRedisConnected: () => false,
        stats: () => ({ ...noStats, handlerFailures: 0 }),
      })
    }),
  )
