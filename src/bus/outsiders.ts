import { Effect, Layer } from "effect"
import { Sql } from "../store/sql.ts"
import { Bus } from "./bus.ts"
import { postgresWire } from "./wire-postgres.ts"

/**
 * A command line works on the database beside the service and leaves when it is done. It is no peer with a lease: it
 * tells what it changed on a channel of its own, to which every process listens.
 */
const channel = "directory_outsiders"

type Word =
  | { readonly kind: "invalidate"; readonly topic: string; readonly keys: ReadonlyArray<string> }
  | { readonly kind: "wake"; readonly topic: string; readonly payload: string }

/** Anybody with a connection can speak on the channel; what is not understood may have been of any change. */
const readWord = (text: string): Word | undefined => {
  try {
    const word = JSON.parse(text) as Word
    return typeof word?.topic === "string" && (word.kind === "wake" || Array.isArray(word.keys))
      ? word
      : undefined
  } catch {
    return undefined
  }
}

/** The service's ear: what an outsider changed is forgotten here at once. */
export const hearOutsiders = Layer.effectDiscard(
  Effect.gen(function* () {
    const bus = yield* Bus
    const sql = yield* Sql
    const hear = (text: string) => {
      const word = readWord(text)
      if (word === undefined) bus.forgetAll()
      else if (word.kind === "wake") bus.publish(word.topic, word.payload)
      else Effect.runFork(bus.invalidate(word.topic, word.keys))
    }
    yield* Effect.acquireRelease(
      Effect.promise(() =>
        // A connection that was lost may have missed a word, so nothing remembered counts any more.
        postgresWire(sql.raw, channel).open({ onMessage: hear, onUp: bus.forgetAll }),
      ),
      // A database that is gone never confirms; the connection ends with the pool anyway.
      (wire) => Effect.promise(() => wire.close().catch(() => {})).pipe(Effect.timeoutOption("1 second")),
    )
  }),
)

const noStats: ReturnType<Bus["Service"]["stats"]> = {
  peers: 0,
  waiting: 0,
  sent: 0,
  heard: 0,
  refused: 0,
  unreadable: 0,
  gaps: 0,
  lapses: 0,
  lost: 0,
  handlerFailures: 0,
}

/** The outsider's bus: it remembers nothing and only tells. */
export const outsiderBus = Layer.effect(
  Bus,
  Effect.gen(function* () {
    const sql = yield* Sql
    const wire = postgresWire(sql.raw, channel)
    const tell = (word: Word) => Effect.promise(() => wire.publish(JSON.stringify(word)))
    return Bus.of({
      mayServe: () => false,
      invalidate: (topic, keys) => tell({ kind: "invalidate", topic, keys }),
      onInvalidate: () => () => {},
      forgetAll: () => {},
      publish: (topic, payload) => void Effect.runFork(tell({ kind: "wake", topic, payload })),
      subscribe: () => () => {},
      onGap: () => () => {},
      stats: () => noStats,
    })
  }),
)
