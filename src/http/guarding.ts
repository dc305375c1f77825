import { Effect, Layer } from "effect"
import { makeAuthenticate } from "./authenticate.ts"
import { Guards } from "./guards.ts"

/** The guards of the running service. */
export const guards = Layer.effect(
  Guards,
  Effect.gen(function* () {
    const authenticate = yield* makeAuthenticate
    return Guards.of({
      authenticate,
      limit: () => Effect.succeed({}),
      freshCode: () => Effect.void,
      once: (_key, _route, _request, _principal, run) => run,
    })
  }),
)
