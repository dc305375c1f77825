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
  /** Wraps the bus, so that tests can drop messages. */
  readonly interceptBus?: (bus: (typeof Bus)["Service"]) => (typeof Bus)["Service"]
}

const channel = "directory"
const heartbeatMs = 250
const leaseMs = 1500
const silenceMs = 600

/** The Redis client is loaded only if Redis is configured. */
const openRedis = (url: Redacted.Redacted, warn: (reason: string) => void) =>
  Effect.promise(async () => (await import("./redis.ts")).redisTransport(Redacted.value(url), channel, warn))

const open = Effect.fnUntraced(function* (
  { config, database, peersPossible }: ClusterOptions,
  warn: (reason: string) => void,
) {
  const sql = yield* Sql
  return Bus.layer({
    // Cache invalidations are sent through the database and not through Redis. A process that has lost Redis can still
    // write to the database, and could not announce its changes through Redis.
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
          // Without retries, because the caller of publish retries.
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

/**
 * The bus of the service. If other processes are possible, it sends messages through Postgres, and wake-ups through
 * Redis if Redis is configured.
 */
export const clusterLayer = (options: ClusterOptions) => {
  const bus = Layer.unwrap(
    Effect.flatMap(Effect.context<never>(), (context) => {
      const fork = Effect.runForkWith(context)
      return open(options, (reason) => void fork(Effect.logWarning("redis connection failed", { reason })))
    }),
  )
  const { interceptBus } = options
  return interceptBus === undefined
    ? bus
    : Layer.effect(Bus, Effect.map(Bus, interceptBus)).pipe(Layer.provide(bus))
}
