import { Effect, Layer } from "effect"
import { connect, Sql } from "../postgres/sql.ts"
import { Bus, noStats } from "./bus.ts"
import type { ClusterOptions } from "./layer.ts"
import { notifyMaxBytes, postgresTransport, postgresTransportClient } from "./transport-postgres.ts"

/**
 * The command line changes the database directly and exits when it is done. It is not a peer with a lease. It
 * announces its changes on a separate channel. Every process of the service listens to this channel, even a process
 * without peers. The channel has the name that it had in release 0.2.0, because the command line of one release must
 * reach the processes of another.
 */
const channel = "directory_outsiders"

/**
 * Notifications are rare, so the listener also notifies itself. If it does not receive its own notification, it has
 * lost its connection.
 */
const heartbeat = "beat"
const heartbeatMs = 15_000

type Notification =
  | { readonly kind: "invalidate"; readonly topic: string; readonly keys: ReadonlyArray<string> }
  | { readonly kind: "wake"; readonly topic: string; readonly payload: string }

/** Returns undefined if the text is not a notification. Any database client can send on the channel. */
const decodeNotification = (text: string): Notification | undefined => {
  try {
    const value = JSON.parse(text) as Notification
    const isValid = typeof value?.topic === "string" && (value.kind === "wake" || Array.isArray(value.keys))
    return isValid ? value : undefined
  } catch {
    return undefined
  }
}

const cliTransport = ({ config, database }: ClusterOptions) =>
  postgresTransport({
    connect: () =>
      connect({
        connection: database,
        poolSize: postgresTransportClient.max,
        statementTimeoutMs: config.statementTimeoutMs,
        client: postgresTransportClient,
      }),
    channel,
    silenceMs: 3 * heartbeatMs,
  })

/** Applies the notifications of the command line in a process of the service. */
export const receiveCliNotifications = (options: ClusterOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const bus = yield* Bus
      const transport = cliTransport(options)
      const onMessage = (text: string) => {
        if (text === heartbeat) return
        const notification = decodeNotification(text)
        // An unknown notification may announce any change, so all caches of this process are dropped.
        if (notification === undefined) bus.forgetAll()
        else if (notification.kind === "wake") bus.publish(notification.topic, notification.payload)
        else Effect.runFork(bus.invalidate(notification.topic, notification.keys))
      }
      yield* Effect.acquireRelease(
        // Notifications may have been missed while the connection was lost, so all caches are dropped.
        Effect.promise(() => transport.open({ onMessage, onUp: bus.forgetAll })),
        (end) => Effect.promise(() => end.close()),
      )
      yield* Effect.promise(() => transport.publish(heartbeat).catch(() => {})).pipe(
        Effect.delay(heartbeatMs),
        Effect.forever,
        Effect.forkScoped,
      )
    }),
  )

/** Splits the keys into notifications. One notification has room for a few hundred keys. */
const invalidations = (topic: string, keys: ReadonlyArray<string>): ReadonlyArray<Notification> => {
  const notifications: Array<Notification> = []
  let room = 0
  let named: Array<string> = []
  for (const key of keys) {
    const bytes = Buffer.byteLength(JSON.stringify(key)) + 1
    if (bytes > room) {
      named = []
      const notification: Notification = { kind: "invalidate", topic, keys: named }
      notifications.push(notification)
      room = notifyMaxBytes - Buffer.byteLength(JSON.stringify(notification))
    }
    named.push(key)
    room -= bytes
  }
  return notifications
}

/** The bus of the command line. It has no caches and only sends notifications. */
export const cliBus = Layer.effect(
  Bus,
  Effect.gen(function* () {
    const sql = yield* Sql
    const notify = (notifications: ReadonlyArray<Notification>) =>
      sql
        .rows(
          (q) =>
            q`select pg_notify(${channel}, payload)
                from unnest(${notifications.map((one) => JSON.stringify(one))}::text[]) payload`,
        )
        .pipe(Effect.orDie, Effect.asVoid)
    const wake = (topic: string, payload: string) =>
      void Effect.runFork(notify([{ kind: "wake", topic, payload }]))
    return Bus.of({
      mayServe: () => false,
      invalidate: (topic, keys) => notify(invalidations(topic, keys)),
      onInvalidate: () => () => {},
      forgetAll: () => {},
      publish: wake,
      wakeOthers: wake,
      subscribe: () => () => {},
      onGap: () => () => {},
      isRedisConnected: () => false,
      stats: () => ({ ...noStats, handlerFailures: 0 }),
    })
  }),
)
