import { Effect, Layer, ManagedRuntime } from "effect"
import { expect, it } from "vitest"
import { Deadlines } from "../../actors/deadlines.ts"
import { EntityStore } from "../../actors/ports.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

/** Starts the sweeps with a store in which only `takeDue` does something. */
const startDeadlines = async (takeDue: (typeof EntityStore)["Service"]["takeDue"]) => {
  const store = Layer.succeed(EntityStore, {
    load: () => Effect.succeed(undefined),
    commit: () => Effect.succeed([]),
    takeDue,
    now: () => performance.now(),
    generation: () => 0,
    statementMs: 1_000,
  })
  const runtime = ManagedRuntime.make(Deadlines.layer({ intervalMs: 5 }).pipe(Layer.provide(store)))
  cleanUp(() => runtime.dispose())
  return runtime.runPromise(Deadlines)
}

it("sweeps continue after one sweep has crashed", async () => {
  let looks = 0
  const deadlines = await startDeadlines(() =>
    ++looks === 1
      ? Effect.die(new Error("the certificate has expired"))
      : Effect.succeed([{ kind: "order", id: "late" }]),
  )
  const handled = await new Promise((resolve) => {
    deadlines.register("order", (id) => Effect.sync(() => resolve(id)))
  })
  expect(handled).toBe("late")
})

it("a sweep handles the other entities when the handler of one entity crashes", async () => {
  const handled: Array<string> = []
  const due = ["damaged", "sound"].map((id) => ({ kind: "order", id }))
  const deadlines = await startDeadlines(() => Effect.succeed(due))
  deadlines.register("order", (id) =>
    id === "damaged" ? Effect.die(new Error("unreadable")) : Effect.sync(() => handled.push(id)),
  )
  expect(await Effect.runPromise(deadlines.sweep)).toBe(2)
  expect(handled).toContain("sound")
})
