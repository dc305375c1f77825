import { Effect, Layer } from "effect"
import { connect } from "../postgres/client.ts"
import type { Sql } from "../postgres/sql.ts"
import { Bus, type Changes } from "./bus.ts"
import type { ClusterOptions } from "./layer.ts"
import { notifyMaxBytes, postgresTransport } from "./transport-postgres.ts"

/**
 * Processes that are not members of the cluster do not acknowledge marks: a process that cannot have peers, and processes
 * of release 0.2. The command line announces its changes to them on a separate channel, after it has changed the database.
 * Every process of the service listens to this channel. It has the name that it had in release 0.2.0, because the command
 * line of one release must reach the processes of another.
 */
export const outsideChannel = "directory_outsiders"

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
    connect: (client) =>
      connect({
        connection: database,
        poolSize: 1,
        statementTimeoutMs: config.statementTimeoutMs,
        client,
      }),
    channel: outsideChannel,
    silenceMs: 3 * heartbeatMs,
  })

/** Applies a notification of the command line. */
export const applyNotification = (bus: Bus["Service"], text: string): void => {
  if (text === heartbeat) return
  const notification = decodeNotification(text)
  // An unknown notification may announce any change, so all caches of this process are dropped.
  if (notification === undefined) bus.forgetAll()
  else if (notification.kind === "invalidate") bus.forget(notification.topic, notification.keys)
  else bus.wakeHere(notification.topic, notification.payload)
}

/**
 * Receives the notifications of the command line in a process without peers. A process with peers receives them through
 * its transport.
 */
export const receiveCliNotifications = (options: ClusterOptions) => {
  if (options.peersPossible) return Layer.empty
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const bus = yield* Bus
      const transport = cliTransport(options)
      const onMessage = (text: string) => applyNotification(bus, text)
      yield* Effect.acquireRelease(
        // Notifications may have been missed while the connection was lost, so all caches are dropped.
        Effect.promise(() => transport.open(undefined, { onMessage, onUp: bus.forgetAll })),
        (end) => Effect.promise(() => end.close()),
      )
      yield* Effect.promise(() => transport.publish([{ payload: heartbeat }]).catch(() => {})).pipe(
        Effect.delay(heartbeatMs),
        Effect.forever,
        Effect.forkScoped,
      )
    }),
  )
}

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

/** Sends notifications to all processes of the service. */
const notify = (sql: Sql["Service"], notifications: ReadonlyArray<Notification>) =>
  sql
    .rows(
      (q) =>
        q`select pg_notify(${outsideChannel}, payload)
            from unnest(${notifications.map((one) => JSON.stringify(one))}::text[]) payload`,
    )
    .pipe(Effect.orDie, Effect.asVoid)

/** Announces committed changes to processes that are not members of the cluster. */
export const announceOutside = (sql: Sql["Service"], changes: Changes): Effect.Effect<void> =>
  notify(
    sql,
    Object.entries(changes).flatMap(([topic, keys]) => invalidations(topic, keys)),
  )

/** Wakes subscribers in all processes of the service. */
export const wakeOutside = (sql: Sql["Service"], topic: string, payload: string): Effect.Effect<void> =>
  notify(sql, [{ kind: "wake", topic, payload }])
