import { Effect, Layer, Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { connect, type DatabaseAddress, Sql } from "../postgres/sql.ts"
import { Bus } from "./bus.ts"
import { postgresTransport, postgresTransportClient } from "./transport-postgres.ts"

export interface ClusterOptions {
  readonly config: Pick<Config, "redisUrl" | "statementTimeoutMs">
  readonly database: DatabaseAddress
  /** Other processes may work on the same database. */
  readonly peersPossible: boolean
  /** Stands between the service and its bus: tests lose messages here. */
  readonly interceptBus?: (bus: (typeof Bus)["Service"]) => (typeof Bus)["Service"]
}

const channel = "directory"
const heartbeatMs = 250
const leaseMs = 1500
const silenceMs = 600

/** Its client is loaded by those who have one: most start without. */
const openRedis = (url: Redacted.Redacted, warn: (reason: string) => void) =>
  Effect.promise(async () => (await import("./redis.ts")).redisTransport(Redacted.value(url), channel, warn))

const open = Effect.fnUntraced(function* (
  { config, database, peersPossible }: ClusterOptions,
  warn: (reason: string) => void,
) {
  const sql = yield* Sql
  return Bus.layer({
    // Caches depend on the database's own wire: a node cut off from Redis could still write.
    transport: peersPossible
      ? postgresTransport({
          connect: () =>
            connect({
              connection: database,
              poolSize: postgresTransportClient.max,
              statementTimeoutMs: config.statementTimeoutMs,
              client: postgresTransportClient,
            }),
          channel,
          silenceMs,
          // Once: whoever publishes tries again by itself.
          notify: (on, payload) => Effect.runPromise(sql.once((q) => q`select pg_notify(${on}, ${payload})`)),
        })
      : undefined,
    redisFastPath:
      peersPossible && config.redisUrl !== undefined ? yield* openRedis(config.redisUrl, warn) : undefined,
    heartbeatMs,
    leaseMs,
    statementMs: config.statementTimeoutMs,
  })
})

/** The bus of the running service: silent when it is alone, through Postgres and Redis when it is not. */
export const clusterLayer = (surroundings: ClusterOptions) => {
  const bus = Layer.unwrap(
    Effect.flatMap(Effect.context<never>(), (context) => {
      const fork = Effect.runForkWith(context)
      return open(surroundings, (reason) => void fork(Effect.logWarning("redis is away", { reason })))
    }),
  )
  const { interceptBus } = surroundings
  return interceptBus === undefined
    ? bus
    : Layer.effect(Bus, Effect.map(Bus, interceptBus)).pipe(Layer.provide(bus))
}
