import { Effect, Layer, Schedule } from "effect"
import { PaymentMethods } from "./payment-method-store.ts"
import { Payments } from "./payments.ts"

/** Tells the provider that a payment method is gone. What it does not hear now it is told later. */
export const detachPaymentMethod = (id: string, provider: string) =>
  Effect.gen(function* () {
    const port = yield* Payments.use((payments) => Effect.succeed(payments.findAny(provider)))
    if (port === undefined) return
    yield* port.forgetMethod(id)
    yield* PaymentMethods.use((methods) => methods.markDetached(id))
  }).pipe(Effect.catch((cause) => Effect.logWarning("the provider keeps a payment method", id, cause)))

/** One round through those that a provider has not heard of, also of deleted accounts. */
export const detachRemovedMethods = Effect.gen(function* () {
  const { names } = yield* Payments
  const waiting = yield* PaymentMethods.use((methods) => methods.listToDetach(names))
  yield* Effect.forEach(waiting, ({ id, provider }) => detachPaymentMethod(id, provider), { discard: true })
})

export const detachPaymentMethods = Layer.effectDiscard(
  detachRemovedMethods.pipe(
    Effect.catchCause((cause) => Effect.logWarning("payment methods not forgotten yet", cause)),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.delay("1 minute"),
    Effect.forkScoped,
  ),
)
