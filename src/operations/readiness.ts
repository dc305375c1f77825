import { Context, Effect, Layer } from "effect"
import { makePostgresHealth } from "../postgres/health.ts"

/**
 * A check of one part of the service. `away` means that the part is unavailable, but the process can serve traffic
 * without it.
 */
type Check = Effect.Effect<"ok" | "away" | "down" | "draining">

/**
 * The checks that must pass before traffic is sent to this process. Other parts of the service add their checks with
 * `add`.
 */
export class Readiness extends Context.Service<
  Readiness,
  {
    add(name: string, check: Check): void
    readonly check: Effect.Effect<Readonly<Record<string, string>>>
    drain(): void
  }
>()("directory/Readiness") {
  static readonly layer = Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const postgres = yield* makePostgresHealth
      let draining = false
      const checks = new Map<string, Check>([
        ["postgres", Effect.map(postgres.answers, (answers) => (answers ? "ok" : "down"))],
        // If the database accepts no writes, lookups still work, and no other process can write either. So this process
        // still gets traffic.
        ["writes", Effect.sync(() => (postgres.writesFail() ? "away" : "ok"))],
        ["traffic", Effect.sync(() => (draining ? "draining" : "ok"))],
      ])
      return Readiness.of({
        add: (name, check) => void checks.set(name, check),
        check: Effect.suspend(() => Effect.all(Object.fromEntries(checks), { concurrency: "unbounded" })),
        drain: () => {
          draining = true
        },
      })
    }),
  )
}
