import { Effect, Fiber } from "effect"
import { atMostOnce, CurrentOperation, type Operation } from "../../../actors/operation.ts"
import type { OrderEvent } from "../../../machines/orders/context.ts"
import { type Fate, Process } from "./fleet.ts"
import { MemoryDatabase } from "./memory-database.ts"

const at = "2030-01-01T00:00:00.000Z"
const later = "2030-01-01T01:00:00.000Z"

/** A request of a client. It is sent to a process, and sent again to another one until it is answered. */
export interface Step {
  readonly order: number
  readonly kind: "add" | "clear" | "checkout" | "draft" | "cancel" | "expire" | "pay"
  readonly id: number
  readonly process: number
  readonly afterMs: number
  /** The process is killed this long after the request was sent. */
  readonly killAfterMs: number | undefined
}
export interface Schedule {
  readonly steps: ReadonlyArray<Step>
  readonly fates: ReadonlyArray<Fate>
}

const ids = ["🚀", "🌊", "🔥", "🐙"]
const item = (order: number, id: number) => ({
  id: `${order}-${ids[id]}`,
  type: "EmojiId" as const,
  claim: ids[id]!,
  emojiId: ids[id]!,
  cents: 500,
  createdAt: at,
  updatedAt: at,
})
const checkout = { method: "CardCheckout", at, expiresAt: later, pubkey: "k" } as const

const eventOf = (
  { id, kind, order }: Step,
  items: ReadonlyArray<ReturnType<typeof item>>,
  key: string,
): OrderEvent => {
  switch (kind) {
    case "add":
      return { type: "add", at, items: items.some((one) => one.claim === ids[id]) ? [] : [item(order, id)] }
    case "clear":
      return { type: "clear", at }
    case "checkout":
      return { type: "checkout.payment", at, items, checkout }
    case "draft":
      return { type: "convert_to_draft", at }
    case "cancel":
      return { type: "cancel", at }
    case "expire":
      return { type: "deadline", at: later }
    case "pay":
      return {
        type: "payment.captured",
        at,
        idsFree: true,
        payment: { fact: key, provider: "sandbox", cents: 500 * items.length, at },
      }
  }
}

const processes = 3
const tries = 8
/** A client waits this long for a response. Then it sends the request to the next process. */
const patienceMs = 400

/** Runs a schedule and returns the database, and for each request whether it was answered. */
export const run = ({ fates, steps }: Schedule) =>
  Effect.gen(function* () {
    const database = new MemoryDatabase()
    let fate = 0
    const nextFate = () => fates[fate++ % fates.length]!
    const fleet = Array.from({ length: processes }, () => new Process(database, nextFate))

    const attempt = (step: Step, key: string, at: number, run: string) => {
      const stored = database.begin(key, run)
      const operation: Operation = {
        caller: "client",
        key,
        run,
        knowsOutcome: stored !== undefined,
        committed: stored === undefined ? undefined : { outcome: JSON.parse(stored) },
        seal: (value) => Effect.succeed(JSON.stringify(value)),
        afterCommit: Effect.void,
      }
      const act = Effect.flatMap(fleet[at]!.actors, (actors) =>
        actors.turn(
          `order ${step.order}`,
          ({ snapshot }) => Effect.succeed(eventOf(step, snapshot.context.items as never, key)),
          {
            create: { id: `order ${step.order}`, userId: "u", createdAt: "2030-01-01T00:00:00.000Z" },
            outcome: (next) => ({ status: next.value, key }),
          },
        ),
      ).pipe(Effect.map(({ written }) => written))
      return atMostOnce(act).pipe(Effect.provideService(CurrentOperation, operation))
    }

    const request = Effect.fnUntraced(function* (step: Step, i: number) {
      const key = `key ${i}`
      yield* Effect.sleep(step.afterMs)
      const { killAfterMs } = step
      if (killAfterMs !== undefined)
        yield* Effect.forkChild(
          Effect.sync(() => {
            fleet[step.process]!.kill()
            fleet[step.process] = new Process(database, nextFate)
          }).pipe(Effect.delay(killAfterMs)),
        )
      for (let n = 0; n < tries; n++) {
        // The client does not interrupt the turn of a process that it no longer waits for.
        const sent = yield* Effect.forkDetach(
          Effect.result(attempt(step, key, (step.process + n) % processes, `run ${i}.${n}`)),
        )
        const answer = yield* Effect.result(Effect.timeout(Fiber.join(sent), patienceMs))
        if (answer._tag === "Failure") continue
        if (answer.success._tag === "Success") return { key, outcome: answer.success.success }
        const failure = answer.success.failure as { readonly _tag: string }
        if (failure._tag !== "Unavailable") return { key, refused: failure._tag }
      }
      return { key }
    })

    const answers = yield* Effect.forEach(steps, request, { concurrency: "unbounded" })
    // Requests that no client waits for any more can still commit. They have ended after this time.
    yield* Effect.sleep(60_000)
    return { database, answers }
  })
