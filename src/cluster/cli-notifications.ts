import { Effect, Layer } from "effect"
import { connect, Sql } from "../postgres/sql.ts"
import { Bus, noStats } from "./bus.ts"
import type { ClusterOptions } from "./layer.ts"
import { notifyMaxBytes, postgresTransport, postgresTransportClient } from "./transport-postgres.ts"

/**
 * A command line works on the database beside the service and leaves when it is done. It is no peer with a lease: it
 * tells what it changed on a channel of its own, to which every process listens, also one that believes itself alone.
 */
const channel = "directory_outsiders"

/** Outsiders are rare, so the listener speaks itself now and then: silence means that it no longer listens. */
const ownBeat = "beat"
const ownBeatMs = 15_000

type Word =
  | { readonly kind: "invalidate"; readonly topic: string; readonly keys: ReadonlyArray<string> }
  | { readonly kind: "wake"; readonly topic: string; readonly payload: string }

/** Anybody with a connection can speak on the channel; what is not understood may have been of any change. */
const readWord = (text: string): Word | undefined => {
  try {
    const word = JSON.parse(text) as Word
    const isWord = typeof word?.topic === "string" && (word.kind === "wake" || Array.isArray(word.keys))
    return isWord ? word : undefined
  } catch {
    return undefined
  }
}

const openWire = ({ config, database }: ClusterOptions) =>
  postgresTransport({
    connect: () =>
      connect({
        connection: database,
        poolSize: postgresTransportClient.max,
        statementTimeoutMs: config.statementTimeoutMs,
        client: postgresTransportClient,
      }),
    channel,
    silenceMs: 3 * ownBeatMs,
  })

/** The service's ear: what an outsider changed is forgotten here at once. */
export const receiveCliNotifications = (surroundings: ClusterOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const bus = yield* Bus
      const transport = openWire(surroundings)
      const hear = (text: string) => {
        if (text === ownBeat) return
        const word = readWord(text)
        if (word === undefined) bus.forgetAll()
        else if (word.kind === "wake") bus.publish(word.topic, word.payload)
        else Effect.runFork(bus.invalidate(word.topic, word.keys))
      }
      yield* Effect.acquireRelease(
        // A connection that was lost may have missed a word, so nothing remembered counts any more.
        Effect.promise(() => transport.open({ onMessage: hear, onUp: bus.forgetAll })),
        (end) => Effect.promise(() => end.close()),
      )
      yield* Effect.promise(() => transport.publish(ownBeat).catch(() => {})).pipe(
        Effect.delay(ownBeatMs),
        Effect.forever,
        Effect.forkScoped,
      )
    }),
  )

/** As many words as it takes: one notification holds a few hundred keys. */
const invalidations = (topic: string, keys: ReadonlyArray<string>): ReadonlyArray<Word> => {
  const words: Array<Word> = []
  let room = 0
  let named: Array<string> = []
  for (const key of keys) {
    const bytes = Buffer.byteLength(JSON.stringify(key)) + 1
    if (bytes > room) {
      named = []
      const word: Word = { kind: "invalidate", topic, keys: named }
      words.push(word)
      room = notifyMaxBytes - Buffer.byteLength(JSON.stringify(word))
    }
    named.push(key)
    room -= bytes
  }
  return words
}

/** The outsider's bus: it remembers nothing and only tells. */
export const cliBus = Layer.effect(
  Bus,
  Effect.gen(function* () {
    const sql = yield* Sql
    const tell = (words: ReadonlyArray<Word>) =>
      sql
        .rows(
          (q) =>
            q`select pg_notify(${channel}, word) from unnest(${words.map((word) => JSON.stringify(word))}::text[]) word`,
        )
        .pipe(Effect.orDie, Effect.asVoid)
    const wake = (topic: string, payload: string) =>
      void Effect.runFork(tell([{ kind: "wake", topic, payload }]))
    return Bus.of({
      mayServe: () => false,
      invalidate: (topic, keys) => tell(invalidations(topic, keys)),
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
