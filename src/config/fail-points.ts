import { Context, Effect, Layer } from "effect"
import { AppConfig } from "./read-config.ts"

/** The points in the code at which a crash test can kill this process. */
export type FailPoint =
  | "request.after_commit"
  | "checkout.before_commit"
  | "checkout.after_commit"
  | "checkout.after_replaced"
  | "checkout.after_intent"
  | "checkout.before_answer"
  | "sandbox.after_charge"
  | "payment.before_commit"
  | "payment.after_commit"

export class FailPoints extends Context.Service<
  FailPoints,
  { pass(point: FailPoint): Effect.Effect<void> }
>()("directory/FailPoints") {
  static readonly layer = Layer.effect(
    FailPoints,
    Effect.gen(function* () {
      const { failpoint, production } = yield* AppConfig
      const armed = production ? undefined : failpoint
      return FailPoints.of({
        pass: (point) =>
          point === armed ? Effect.sync(() => process.kill(process.pid, "SIGKILL")) : Effect.void,
      })
    }),
  )
}
