import { Context, Effect, Layer, Redacted } from "effect"
import type StripeSdk from "stripe"
import { InvalidRequest, Unavailable } from "../../../schema/errors.ts"
import { AppConfig } from "../../config/read-config.ts"
import type { IntentName, IntentRequest, MadeIntent, PaymentProvider } from "./port.ts"
import { capturedBy, readStripeEvent } from "./stripe-events.ts"

// The version is fixed here, because the default version of a Stripe account can change the format of webhooks.
const apiVersion = "2026-10-28.endive"
const currency = "usd"
/** The minimum charge of Stripe for US dollars, in cents. */
const leastCents = 50
const timeoutMs = 10_000
const maxNetworkRetries = 2

const address = (url: string | undefined) => {
  if (url === undefined) return {}
  const { hostname, port, protocol } = new URL(url)
  return {
    host: hostname,
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    protocol: protocol === "https:" ? ("https" as const) : ("http" as const),
  }
}

/** Stripe rejected the request, for example because it is not valid or the card was declined. A retry would fail again. */
class StripeRefused {
  readonly _tag = "StripeRefused"
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const refusals = new Set(["StripeInvalidRequestError", "StripeCardError", "StripeIdempotencyError"])

const ask = <A>(call: () => Promise<A>): Effect.Effect<A, StripeRefused | Unavailable> =>
  Effect.tryPromise({
    try: call,
    catch: (error) => {
      const { message, type } = error as { type?: string; message?: string }
      return refusals.has(type ?? "")
        ? new StripeRefused(message ?? "")
        : new Unavailable({
            error: "The payment provider is not reachable. Try again in a few seconds.",
            retryAfterSeconds: 5,
          })
    },
  })

const idOf = (value: string | { readonly id: string } | null): string | undefined =>
  value === null ? undefined : typeof value === "string" ? value : value.id

const makeProvider = (stripe: StripeSdk, webhookSecret: string): PaymentProvider => {
  const session = (request: IntentRequest) =>
    ask(() =>
      stripe.checkout.sessions.create(
        {
          mode: "payment",
          client_reference_id: request.orderId,
          line_items: [
            {
              quantity: 1,
              price_data: {
                currency,
                unit_amount: request.cents,
                product_data: { name: `Order ${request.orderNumber}` },
              },
            },
          ],
          metadata: { order_id: request.orderId },
          payment_intent_data: {
            metadata: { order_id: request.orderId, attempt: String(request.attempt) },
          },
          ...(request.email === undefined ? {} : { customer_email: request.email }),
          ...(request.successUrl === undefined ? {} : { success_url: request.successUrl }),
          ...(request.cancelUrl === undefined ? {} : { cancel_url: request.cancelUrl }),
        },
        { idempotencyKey: request.key },
      ),
    ).pipe(
      Effect.map(
        (made): MadeIntent => ({
          intentId: idOf(made.payment_intent) ?? made.id,
          sessionId: made.id,
          clientSecret: made.client_secret ?? "",
          methods: [],
          ...(made.url === null ? {} : { checkoutUrl: made.url }),
        }),
      ),
    )

  const paymentIntent = (request: IntentRequest) =>
    ask(() =>
      stripe.paymentIntents.create(
        {
          amount: request.cents,
          currency,
          automatic_payment_methods: { enabled: true },
          metadata: { order_id: request.orderId },
        },
        { idempotencyKey: request.key },
      ),
    ).pipe(
      Effect.map(
        (made): MadeIntent => ({
          intentId: made.id,
          clientSecret: made.client_secret ?? "",
          methods: [],
        }),
      ),
    )

  const cancel = ({
    intentId,
    sessionId,
  }: IntentName): Effect.Effect<unknown, StripeRefused | Unavailable> =>
    sessionId === undefined
      ? ask(() => stripe.paymentIntents.cancel(intentId))
      : ask(() => stripe.checkout.sessions.expire(sessionId))

  /** The payment intent of an intent. Null if the buyer has not paid with the session yet. */
  const paymentOf = ({ intentId, sessionId }: IntentName) =>
    ask(async () => {
      if (sessionId === undefined) return stripe.paymentIntents.retrieve(intentId)
      const found = await stripe.checkout.sessions.retrieve(sessionId, { expand: ["payment_intent"] })
      const payment = found.payment_intent
      return typeof payment === "string" ? stripe.paymentIntents.retrieve(payment) : payment
    })

  /**
   * Finds a refund by its metadata. Stripe stores an idempotency key for only one day, so the key is not sufficient.
   */
  const findRefund = (intentId: string, refundId: string) =>
    ask(async () => {
      for await (const refund of stripe.refunds.list({ payment_intent: intentId, limit: 100 }))
        if (refund.metadata?.["refund_id"] === refundId) return refund
      return undefined
    })

  return {
    name: "stripe",
    leastCents,
    createIntent: (request) =>
      (request.method === "CardCheckout" ? session(request) : paymentIntent(request)).pipe(
        // Stripe rejects an intent only if the configuration of this service is wrong. The buyer cannot correct that.
        Effect.catchTag("StripeRefused", ({ message }) =>
          Effect.andThen(
            Effect.logError("stripe rejected an intent", message),
            Effect.fail(
              new Unavailable({
                error: "The payment provider rejected the payment request. Try another payment method.",
                retryAfterSeconds: "never",
              }),
            ),
          ),
        ),
      ),
    cancelIntent: (intent) =>
      cancel(intent).pipe(
        Effect.catchTag("StripeRefused", () => Effect.void),
        Effect.asVoid,
      ),
    isCancelled: ({ intentId, sessionId }) =>
      (sessionId === undefined
        ? Effect.map(
            ask(() => stripe.paymentIntents.retrieve(intentId)),
            ({ status }) => status === "canceled",
          )
        : Effect.map(
            ask(() => stripe.checkout.sessions.retrieve(sessionId)),
            ({ status }) => status === "expired",
          )
      ).pipe(Effect.catchTag("StripeRefused", () => Effect.succeed(false))),
    capturesOf: (intent) =>
      paymentOf(intent).pipe(
        Effect.map((payment) => {
          const captured = payment?.status === "succeeded" ? capturedBy(payment) : undefined
          return captured === undefined ? [] : [captured]
        }),
        Effect.catchTag("StripeRefused", () => Effect.succeed([])),
      ),
    refund: ({ cents, intentId, isRepeated, orderId, refundId }) =>
      Effect.gen(function* () {
        const made = isRepeated ? yield* findRefund(intentId, refundId) : undefined
        if (made !== undefined) return made
        const metadata = { order_id: orderId, refund_id: refundId }
        return yield* ask(() =>
          stripe.refunds.create(
            { payment_intent: intentId, amount: cents, metadata },
            { idempotencyKey: refundId },
          ),
        )
      }).pipe(
        Effect.map(({ status }) =>
          status === "succeeded"
            ? "made"
            : status === "failed" || status === "canceled"
              ? "refused"
              : "pending",
        ),
        Effect.catchTag("StripeRefused", () => Effect.succeed("refused" as const)),
      ),
    findOrder: (intentId) =>
      ask(() => stripe.paymentIntents.retrieve(intentId)).pipe(
        Effect.map(({ metadata }) => metadata?.["order_id"]),
        Effect.catchTag("StripeRefused", () => Effect.succeed(undefined)),
      ),
    readWebhook: (body, signature) =>
      Effect.try({
        try: () =>
          readStripeEvent(stripe.webhooks.constructEvent(Buffer.from(body), signature, webhookSecret)),
        catch: () => new InvalidRequest({ error: "The signature of the webhook is not valid." }),
      }),
    forgetMethod: (methodId) =>
      ask(() => stripe.paymentMethods.detach(methodId)).pipe(
        Effect.catchTag("StripeRefused", () => Effect.void),
        Effect.asVoid,
      ),
  }
}

/** The Stripe provider for card and wallet payments. Undefined if the Stripe keys are not configured. */
export class Stripe extends Context.Service<Stripe, { readonly provider: PaymentProvider | undefined }>()(
  "directory/Stripe",
) {
  static readonly layer = Layer.effect(
    Stripe,
    Effect.gen(function* () {
      const { stripeKey, stripeUrl, stripeWebhookSecret } = yield* AppConfig
      if (stripeKey === undefined || stripeWebhookSecret === undefined) return { provider: undefined }
      // The SDK is imported only if Stripe is configured, because the import adds 100 ms to the startup.
      const { default: Sdk } = yield* Effect.promise(() => import("stripe"))
      const stripe = new Sdk(Redacted.value(stripeKey), {
        apiVersion,
        timeout: timeoutMs,
        maxNetworkRetries,
        telemetry: false,
        ...address(stripeUrl),
      })
      return { provider: makeProvider(stripe, Redacted.value(stripeWebhookSecret)) }
    }),
  )
}
