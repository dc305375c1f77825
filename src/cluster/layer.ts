import { Effect, Layer, Redacted } from "effect"
import type { Config } from "../config/read-config.ts"
import { connect, type DatabaseAddress } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { durationBounds } from "../telemetry/registry.ts"
import { Bus } from "./bus.ts"
import { announceOutside, applyNotification, outsideChannel } from "./cli-notifications.ts"
import { type LeaseRow, leaseStatement, type SendLeaseCall } from "./member-store.ts"
import { notifications, type PostgresTransport, postgresTransport } from "./transport-postgres.ts"

export interface ClusterOptions {
  readonly config: Pick<Config, "redisUrl" | "statementTimeoutMs">
  readonly database: DatabaseAddress
  /** Other processes may work on the same database. */
  readonly peersPossible: boolean
  /** Wraps the bus, so that tests can drop messages. */
  readonly interceptBus?: (bus: (typeof Bus)["Service"]) => (typeof Bus)["Service"]
}

const channel = "directory_cluster"
const oldChannel = "directory"
const oldReleaseMs = 3000
const silenceMs = 1200
/**
 * A process that stops without leaving delays writes of the others for at most one lease. `markMs` is how long a write
 * may wait for acknowledgements, for a connection and for locks before its fence.
 */
export const clusterTimes = { leaseMs: 2000, renewMs: 500, markMs: 10_000 }

/** The Redis client is loaded only if Redis is configured. */
const openRedis = (url: Redacted.Redacted, warn: (reason: string) => void) =>
  Effect.promise(async () => (await import("./redis.ts")).redisTransport(Redacted.value(url), channel, warn))

/** A transport and the statements of the lease. Both use the pool if the connections of the transport do not respond. */
export const openTransport = (
  { config, database }: Pick<ClusterOptions, "config" | "database">,
  sql: Sql["Service"],
  others: Readonly<Record<string, (payload: string) => void>>,
) => {
  const transport: PostgresTransport = postgresTransport({
    connect: (client) =>
      connect({
        connection: database,
        poolSize: 1,
        statementTimeoutMs: config.statementTimeoutMs,
        client,
      }),
    channel,
    others,
    silenceMs,
    // Without retries, because the caller of publish retries.
    notify: (pairs) => Effect.runPromise(sql.once((q) => notifications(q, pairs) as never)),
  })
  const call: SendLeaseCall = async (kind, request) => {
    const onPool = () =>
      Effect.runPromise(sql.once<LeaseRow>((q) => leaseStatement(q, kind, request) as never))
    const sent = transport.run<ReadonlyArray<LeaseRow>>((q) => leaseStatement(q, kind, request) as never)
    // A join that fails is not sent again at once: new writes wait behind it while a write runs for long.
    const [row] = await (kind === "join" ? sent : sent.catch(onPool))
    return row?.view ?? null
  }
  return { transport, call }
}

const open = Effect.fnUntraced(function* (options: ClusterOptions, warn: (reason: string) => void) {
  const sql = yield* Sql
  const { config, peersPossible } = options
  const waited = (yield* Metrics).histogram(
    "invalidation_wait_seconds",
    "How long writes waited until all other processes had dropped the changed data from their caches",
    durationBounds,
  )
  let oldReleaseUntil = Number.NEGATIVE_INFINITY
  let bus: Bus["Service"] | undefined
  const others = {
    [oldChannel]: () => {
      oldReleaseUntil = performance.now() + oldReleaseMs
    },
    [outsideChannel]: (text: string) => bus && applyNotification(bus, text),
  }
  return Bus.layer({
    ...clusterTimes,
    statementMs: config.statementTimeoutMs,
    onWaited: (ms) => waited.observe(ms / 1000),
    link: peersPossible
      ? {
          ...openTransport(options, sql, others),
          onReady: (ready) => {
            bus = ready
          },
          redisFastPath: config.redisUrl === undefined ? undefined : yield* openRedis(config.redisUrl, warn),
          oldReleaseUntil: () => oldReleaseUntil,
          databaseGeneration: sql.generation,
          // Processes of release 0.2 do not acknowledge marks, but they receive what the command line announces.
          announce: (changes) =>
            performance.now() < oldReleaseUntil ? announceOutside(sql, changes) : Effect.void,
        }
      : undefined,
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
