import { Effect, Layer, Schedule } from "effect"
import { PaymentMethods } from "./payment-method-store.ts"
import { Payments } from "./payments.ts"

/** Tells the provider that a payment method is gone. What it does not hear now it is told later. */
export const forgetMethod = (id: string, provider: string) =>
  Effect.gen(function* () {
    const port = yield* Payments.use((payments) => Effect.succeed(payments.findAny(provider)))
    if (port === undefined) return
    yield* port.forgetMethod(id)
    yield* PaymentMethods.use((methods) => methods.forgotten(id))
  }).pipe(Effect.catch((cause) => Effect.logWarning("the provider keeps a payment method", id, cause)))

/** One round through those that a provider has not heard of, also of deleted accounts. */
export const forgetMethods = Effect.gen(function* () {
  const { names } = yield* Payments
  const waiting = yield* PaymentMethods.use((methods) => methods.toForget(names))
  yield* Effect.forEach(waiting, ({ id, provider }) => forgetMethod(id, provider), { discard: true })
})

export const methodForgetting = Layer.effectDiscard(
  forgetMethods.pipe(
    Effect.catchCause((cause) => Effect.logWarning("payment methods not forgotten yet", cause)),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.delay("1 minute"),
    Effect.forkScoped,
  ),
)
