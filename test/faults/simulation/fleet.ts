import { Context, Effect, Layer } from "effect"
import { Deadlines } from "../../../actors/deadlines.ts"
import { JoinedTurns } from "../../../actors/joined-turns.ts"
import { Mailboxes } from "../../../actors/mailboxes.ts"
import { OrderActors } from "../../../actors/order.ts"
import { Publisher } from "../../../actors/ports.ts"
import { DatabaseClock } from "../../../src/postgres/database-clock.ts"
import { Sql } from "../../../src/postgres/sql.ts"
import { entityStore } from "../../../src/turns/entity-store.ts"
import { Outbox } from "../../../src/turns/outbox.ts"
import { away, type MemoryDatabase } from "./memory-database.ts"

/** What happens to a statement. `lost` means that its result does not arrive, although it was executed. */
export interface Fate {
  readonly outcome: "answered" | "refused" | "lost"
  readonly beforeMs: number
  readonly afterMs: number
}

/** Captures the text and the parameters of a statement. */
const capture = (strings: ReadonlyArray<string>, ...values: ReadonlyArray<unknown>) => ({
  text: strings.join("?"),
  values,
})
const read = (value: unknown) => (value === null ? null : JSON.parse(String(value)))

/** A process whose statements run on the database in memory. After `kill` none of its statements returns. */
export class Process {
  #isDead = false
  readonly actors: Effect.Effect<(typeof OrderActors)["Service"]>

  constructor(database: MemoryDatabase, nextFate: () => Fate) {
    const execute = ({ text, values }: ReturnType<typeof capture>): ReadonlyArray<unknown> =>
      text.includes("commit_batch")
        ? [{ places: database.commit(read(values[0]), read(values[1])) }]
        : database.load(String(values[1]))
    const attempt = (statement: (tag: typeof capture) => ReturnType<typeof capture>) =>
      Effect.gen({ self: this }, function* () {
        const { afterMs, beforeMs, outcome } = nextFate()
        yield* Effect.sleep(beforeMs)
        if (this.#isDead) return yield* Effect.never
        if (outcome === "refused") return yield* away
        const rows = yield* Effect.try({ try: () => execute(statement(capture)), catch: (error) => error })
        yield* Effect.sleep(afterMs)
        if (this.#isDead) return yield* Effect.never
        return outcome === "lost" ? yield* away : rows
      })
    const sql = {
      attempt,
      rows: attempt,
      poolSize: 8,
      statementTimeoutMs: 1000,
      generation: () => 0,
    } as unknown as (typeof Sql)["Service"]
    const nothing = () => {}
    const platform = Layer.mergeAll(
      Layer.succeed(Sql, sql),
      Layer.succeed(DatabaseClock, { now: () => Date.parse("2030-01-01T00:00:00Z") }),
      Layer.succeed(Outbox, { seal: () => Effect.succeed([]) } as never),
      Layer.succeed(Deadlines, { register: nothing, expect: nothing } as never),
      Layer.succeed(Publisher, {
        committed: nothing,
        moved: nothing,
        changing: () => (commit) => commit,
        alone: () => false,
      }),
      Mailboxes.layer,
      JoinedTurns.layer,
    )
    const layer = OrderActors.layer.pipe(Layer.provide(entityStore), Layer.provide(platform))
    this.actors = Effect.scoped(Layer.build(layer)).pipe(Effect.map(Context.get(OrderActors)), (build) =>
      Effect.runSync(Effect.cached(build)),
    )
  }

  kill(): void {
    this.#isDead = true
  }
}
