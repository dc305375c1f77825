import { Effect, Layer, Schedule } from "effect"
import { PaymentMethods } from "./payment-method-store.ts"
import { Payments } from "./payments.ts"

/** Detaches a removed payment method at its provider. If this fails, `detachRemovedMethods` tries it again. */
export const detachPaymentMethod = (id: string, provider: string) =>
  Effect.gen(function* () {
    const port = yield* Payments.use((payments) => Effect.succeed(payments.findAny(provider)))
    if (port === undefined) return
    yield* port.forgetMethod(id)
    yield* PaymentMethods.use((methods) => methods.markDetached(id))
  }).pipe(Effect.catch((cause) => Effect.logWarning("payment method detach failed", id, cause)))

/** Detaches removed payment methods that are still attached at their provider. Includes those of deleted accounts. */
export const detachRemovedMethods = Effect.gen(function* () {
  const { names } = yield* Payments
  const waiting = yield* PaymentMethods.use((methods) => methods.listToDetach(names))
  yield* Effect.forEach(waiting, ({ id, provider }) => detachPaymentMethod(id, provider), { discard: true })
})

export const detachPaymentMethods = Layer.effectDiscard(
  detachRemovedMethods.pipe(
    Effect.catchCause((cause) => Effect.logWarning("payment method detach failed", cause)),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.delay("1 minute"),
    Effect.forkScoped,
  ),
)
