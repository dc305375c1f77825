import { Context, Effect, Layer } from "effect"
import { OrderActors } from "../../../actors/order.ts"
import type { Checkout, Intent, OrderContext, OrderItem } from "../../../machines/orders/context.ts"
import { orderNumber } from "../../../machines/orders/effects.ts"
import { dueCents } from "../../../machines/orders/money.ts"
import { fieldFault, NotFound, type Unavailable, type Unprocessable } from "../../../schema/errors.ts"
import { isoTime } from "../../../schema/iso-time.ts"
import type { TurnEffects } from "../../../schema/turn.ts"
import { FailPoints } from "../../config/fail-points.ts"
import { AppConfig } from "../../config/read-config.ts"
import { IntentSecrets } from "../checkout/intent-secrets.ts"
import type { StoredOrder } from "../order-store.ts"
import type { IntentRequest, PaidMethod, PaymentProvider } from "./port.ts"
import { Sandbox } from "./sandbox.ts"
import { Stripe } from "./stripe.ts"

const paidMethods = [
  "CardCheckout",
  "CryptoCommerce",
  "WalletPay",
] as const satisfies ReadonlyArray<PaidMethod>

const isPaidMethod = (method: Checkout["method"]): method is PaidMethod =>
  paidMethods.some((paid) => paid === method)

const unavailable = (method: PaidMethod): string =>
  method === "CardCheckout"
    ? "Card payments are not configured on this server."
    : `${method} payments are not available on this server.`

type PaidCheckout = Checkout & { readonly method: PaidMethod }

/** Chooses the provider of each payment method, and creates and cancels payment intents. */
export class Payments extends Context.Service<
  Payments,
  {
    /** The payment methods that are available on this server. */
    readonly methods: ReadonlyArray<PaidMethod>
    checkMethod(method: Checkout["method"]): Effect.Effect<void, Unprocessable>
    /** Finds an enabled provider. Payments, refunds and webhooks may only use a provider found with this function. */
    find(provider: string): PaymentProvider | undefined
    /**
     * Finds a provider that is configured, including the sandbox when test payments are disabled. For tasks that move
     * no money.
     */
    findAny(provider: string): PaymentProvider | undefined
    /** The names of all providers that `findAny` finds. */
    readonly names: ReadonlyArray<string>
    /** Whether the provider that created the intent is still enabled. */
    isPayable(intent: Intent): boolean
    /**
     * The error message if the amount is below the minimum of the payment method. Undefined if the amount is not below
     * the minimum, or if it is zero.
     */
    tooLittle(method: Checkout["method"], cents: number): string | undefined
    /**
     * Computes the intent of a checkout and the effects that store it. Undefined if the checkout needs no intent, if
     * the amount is below the minimum, or if only a call to the payment provider can create the intent.
     */
    foresee(
      order: OrderContext,
      items: ReadonlyArray<OrderItem>,
      checkout: Checkout,
    ): Effect.Effect<{ readonly intent: Intent; readonly effects: TurnEffects } | undefined>
    /**
     * Creates the intent of a pending order that has none. Returns the order unchanged if it needs no intent, or if no
     * provider accepts its method and amount.
     */
    ensureIntent(order: StoredOrder): Effect.Effect<StoredOrder, NotFound | Unavailable>
    /** Cancels an intent. A failure is only logged. A payment that still arrives for this intent is booked. */
    abandon(intent: Intent | undefined): Effect.Effect<void>
    /**
     * Cancels an intent if it is still open, and returns whether its provider confirms that it is cancelled. False if
     * the provider is not configured any more.
     */
    confirmCancelled(intent: Intent): Effect.Effect<boolean, Unavailable>
    /**
     * Cancels the intent `before` and creates a new one, if the order is pending and the last turn removed its intent
     * because the amount due changed.
     */
    replaceIntent(before: Intent | undefined, order: StoredOrder): Effect.Effect<void>
  }
>()("directory/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const actors = yield* OrderActors
      const secrets = yield* IntentSecrets
      const failPoints = yield* FailPoints
      const sandbox = yield* Sandbox
      const stripe = yield* Stripe
      const known = new Map<string, PaymentProvider>([
        [sandbox.name, sandbox],
        ...(stripe.provider === undefined ? [] : [[stripe.provider.name, stripe.provider] as const]),
      ])
      const find = (provider: string) =>
        provider === sandbox.name && !config.takesTestPayments ? undefined : known.get(provider)

      // Only the sandbox supports CryptoCommerce.
      const providerFor = (method: PaidMethod): PaymentProvider | undefined =>
        (method === "CryptoCommerce" ? undefined : stripe.provider) ?? find(sandbox.name)

      const methods = paidMethods.filter((method) => providerFor(method) !== undefined)
      if (config.payments === "sandbox")
        yield* Effect.logWarning("PAYMENTS=sandbox: test payments are accepted, no real money is charged")
      else if (methods.length === 0)
        yield* Effect.logWarning("no payment provider is configured: only Free and Cash checkouts work")

      const abandon = (intent: Intent | undefined): Effect.Effect<void> =>
        intent === undefined
          ? Effect.void
          : (known.get(intent.provider)?.cancelIntent(intent) ?? Effect.void).pipe(
              Effect.catch((cause) =>
                Effect.logWarning("intent cancellation failed", intent.intentId, cause),
              ),
            )

      const requestFor = (
        { checkout, id }: OrderContext & { readonly checkout: PaidCheckout },
        attempt: number,
        cents: number,
      ): IntentRequest => ({
        // The amount is part of the key, because an order that is partly paid needs another intent for the rest.
        key: `${id}:${attempt}:${cents}`,
        orderId: id,
        attempt,
        orderNumber: orderNumber(id),
        method: checkout.method,
        cents,
        email: checkout.email,
        successUrl: checkout.successUrl,
        cancelUrl: checkout.cancelUrl,
      })

      const foresee = Effect.fnUntracedEager(function* (
        order: OrderContext,
        items: ReadonlyArray<OrderItem>,
        given: Checkout,
      ) {
        if (!isPaidMethod(given.method)) return undefined
        const checkout = { ...given, method: given.method }
        const provider = providerFor(checkout.method)
        const cents = dueCents({ ...order, items })
        if (provider?.foresee === undefined || cents < provider.leastCents) return undefined
        const attempt = order.attempt + 1
        const { effects, made } = provider.foresee(requestFor({ ...order, checkout }, attempt, cents))
        const intent = yield* secrets.protect(order.id, { attempt, provider: provider.name, ...made })
        return { intent, effects }
      })

      const ensureIntent = Effect.fnUntracedEager(function* (order: StoredOrder) {
        const { context } = order
        const { checkout } = context
        const cents = dueCents(context)
        if (order.status !== "PendingPayment" || context.intent !== undefined || cents === 0) return order
        if (checkout === undefined || !isPaidMethod(checkout.method)) return order
        const provider = providerFor(checkout.method)
        if (provider === undefined || cents < provider.leastCents) return order
        const request = requestFor(
          { ...context, checkout: { ...checkout, method: checkout.method } },
          context.attempt,
          cents,
        )
        const made = yield* provider.createIntent(request)
        yield* failPoints.pass("checkout.after_intent")
        const { attempt } = context
        const intent = yield* secrets.protect(context.id, { attempt, provider: provider.name, ...made })
        const recorded = actors.turn(context.id, (_, now) =>
          Effect.succeed({ type: "intent.made", intent, at: isoTime(now) }),
        )
        const { snapshot } = yield* recorded.pipe(
          Effect.catchTags({
            // The order has changed, or another request has recorded an intent first. If the order does not have the
            // intent that was created here, this intent is cancelled.
            EventRefused: () =>
              Effect.gen(function* () {
                const now = yield* actors.find(context.id)
                if (now === undefined) return yield* new NotFound({})
                if (now.snapshot.context.intent?.intentId !== intent.intentId) yield* abandon(intent)
                return now
              }),
            IdsTaken: Effect.die,
            LimitReached: Effect.die,
            UniqueConflict: Effect.die,
          }),
        )
        return { status: snapshot.value, context: snapshot.context }
      })

      const replaceIntent = Effect.fnUntracedEager(function* (
        before: Intent | undefined,
        order: StoredOrder,
      ) {
        const { context, status } = order
        if (status !== "PendingPayment" || context.intent !== undefined) return
        yield* abandon(before)
        // If the provider fails, the buyer's next checkout request creates the intent.
        yield* ensureIntent(order).pipe(
          Effect.catch((cause) => Effect.logWarning("intent creation failed", context.id, cause)),
        )
      })

      return Payments.of({
        checkMethod: (method) =>
          isPaidMethod(method) && providerFor(method) === undefined
            ? Effect.fail(fieldFault("method", "method_unavailable", unavailable(method)))
            : Effect.void,
        methods,
        find,
        findAny: (provider) => known.get(provider),
        names: [...known.keys()],
        isPayable: ({ provider }) => find(provider) !== undefined,
        tooLittle: (method, cents) => {
          const least = isPaidMethod(method) ? (providerFor(method)?.leastCents ?? 0) : 0
          return cents === 0 || cents >= least
            ? undefined
            : `The amount due is ${cents} cents. The minimum for ${method} is ${least} cents.`
        },
        foresee,
        ensureIntent,
        abandon,
        confirmCancelled: Effect.fnUntraced(function* (intent) {
          const provider = known.get(intent.provider)
          if (provider === undefined) return false
          if (yield* provider.isCancelled(intent)) return true
          yield* provider.cancelIntent(intent)
          return yield* provider.isCancelled(intent)
        }),
        replaceIntent,
      })
    }),
  )
}
