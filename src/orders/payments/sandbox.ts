import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Intent } from "../../../machines/orders/context.ts"
import { InvalidRequest, type Unavailable } from "../../../schema/errors.ts"
import type { SandboxIntent } from "../../../schema/turn.ts"
import { FailPoints } from "../../config/fail-points.ts"
import { AppConfig } from "../../config/read-config.ts"
import { makeKeyRing, type NamedKey } from "../../crypto/key-ring.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import type { ForeseenIntent, IntentRequest, MadeIntent, PaymentEvent, PaymentProvider } from "./port.ts"
import { SandboxNames } from "./sandbox-names.ts"
import { invoiceMethods } from "./sandbox-rates.ts"
import { signWebhook, webhookSigned } from "./sandbox-signature.ts"
import { makeSandboxStore, type SandboxSession } from "./sandbox-store.ts"
import type { Webhook } from "./sandbox-webhook-store.ts"

interface Message {
  readonly id: string
  readonly event: PaymentEvent
}

const textOf = ({ buffer, byteLength, byteOffset }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString()

/** The test card. Every buyer pays with the same card number; the id of the payment method differs per order. */
const card = (orderId: string) => ({
  id: `pm_sandbox_${orderId.slice(-12)}`,
  payment_type: "card",
  brand: "visa",
  country: "US",
  last4: "4242",
  exp_month: 12,
  exp_year: 2040,
})

const captureOf = (payment: {
  readonly id: string
  readonly orderId: string
  readonly intentId: string
  readonly cents: number
}): PaymentEvent => {
  const { cents, id, intentId, orderId } = payment
  return { kind: "captured", provider: "sandbox", fact: `sandbox:${id}`, orderId, intentId, cents }
}

/**
 * A payment provider inside this service, for demonstrations and tests. It is separated from orders: it has its own
 * tables, stores only the ids of orders, and reports payments only through signed webhooks.
 */
export class Sandbox extends Context.Service<
  Sandbox,
  PaymentProvider & {
    findSession(sessionId: string): Effect.Effect<SandboxSession | undefined, Unavailable>
    /**
     * Records a payment of the buyer. Returns false if nothing was recorded. Without `onTop`, the payment is not
     * recorded if another payment was recorded after the session was read. A card or wallet payment is recorded only
     * while the intent is open and not fully paid, an on-chain payment also afterwards.
     */
    pay(
      session: SandboxSession,
      cents: number,
      options: { readonly onTop: boolean },
    ): Effect.Effect<boolean, Unavailable>
    decline(session: SandboxSession): Effect.Effect<void, Unavailable>
    sign(body: Uint8Array): string
    /** Computes the client secret of an intent, so that the secret need not be stored. */
    secretOf(intent: Pick<Intent, "intentId" | "secretKey">): string
    /**
     * Returns the payment methods of a sandbox intent, computed for this amount due. For an intent of another provider,
     * and for one without methods, returns the stored methods.
     */
    waysToPay(intent: Intent, cents: number): Intent["methods"]
    /**
     * Sets the function that sends new webhooks immediately. A webhook that it cannot deliver is sent again later.
     */
    onWebhooks(deliver: (webhooks: ReadonlyArray<Webhook>) => Effect.Effect<void>): void
  }
>()("directory/Sandbox") {
  static readonly layer = (options: { readonly keys: ReadonlyArray<NamedKey> }) =>
    Layer.effect(
      Sandbox,
      Effect.gen(function* () {
        const store = yield* makeSandboxStore
        const clock = yield* DatabaseClock
        const failPoints = yield* FailPoints
        const { baseUrl } = yield* AppConfig
        const ring = yield* makeKeyRing(options.keys, "sandbox-webhook")
        const names = new SandboxNames(ring)
        let deliver = (_: ReadonlyArray<Webhook>): Effect.Effect<void> => Effect.void

        const foresee = (request: IntentRequest): ForeseenIntent => {
          const { cancelUrl, cents, method, successUrl } = request
          const { intentId, invoiceId, secretKey, sessionId } = names.of(request.key)
          const isInvoice = method === "CryptoCommerce"
          const made: MadeIntent = {
            intentId,
            sessionId,
            secretKey,
            checkoutUrl: `${baseUrl}/sandbox/checkout/${sessionId}`,
            invoiceId: isInvoice ? invoiceId : undefined,
            methods: isInvoice ? invoiceMethods(intentId, cents) : [],
          }
          const row: SandboxIntent = {
            id: intentId,
            session_id: sessionId,
            method,
            cents,
            success_url: successUrl,
            cancel_url: cancelUrl,
          }
          return { made, effects: { sandbox_intents: [row] } }
        }

        const createIntent = (request: IntentRequest) => {
          const { effects, made } = foresee(request)
          return Effect.as(store.putIntents(request.orderId, effects.sandbox_intents), made)
        }

        const record = (
          intentId: string,
          payment: { readonly id: string; readonly cents: number; readonly outcome: string },
          events: ReadonlyArray<PaymentEvent>,
          paidBefore?: number,
        ) => {
          const messages = events.map((event) => JSON.stringify({ id: `evt_${randomUUID()}`, event }))
          return store.record(intentId, payment, messages, paidBefore).pipe(
            Effect.tap(failPoints.pass("sandbox.after_charge")),
            Effect.tap((webhooks) => deliver(webhooks)),
            Effect.map((webhooks) => webhooks.length > 0),
          )
        }

        const pay = (
          { intentId, method, orderId, paidCents }: SandboxSession,
          cents: number,
          { onTop }: { readonly onTop: boolean },
        ) => {
          const paymentId = `pay_sandbox_${randomUUID()}`
          const events: ReadonlyArray<PaymentEvent> = [
            captureOf({ cents, id: paymentId, intentId, orderId }),
            ...(method === "CardCheckout"
              ? [{ kind: "method_used", provider: "sandbox", orderId, method: card(orderId) } as const]
              : []),
          ]
          const payment = { id: paymentId, cents, outcome: "captured" }
          return record(intentId, payment, events, onTop ? undefined : paidCents)
        }

        const decline = Effect.fnUntraced(function* ({ intentId, orderId }: SandboxSession) {
          yield* record(intentId, { id: `pay_sandbox_${randomUUID()}`, cents: 0, outcome: "declined" }, [
            { kind: "declined", provider: "sandbox", orderId, intentId, reason: "Your card was declined." },
          ])
        })

        return Sandbox.of({
          name: "sandbox",
          leastCents: 1,
          foresee,
          createIntent,
          cancelIntent: ({ intentId }, reason) =>
            Effect.asVoid(store.cancelIntent(intentId, reason === "replaced")),
          isCancelled: ({ intentId }) => store.isCancelled(intentId),
          capturesOf: ({ intentId }, orderId) =>
            Effect.map(store.capturesOf(intentId), (payments) =>
              payments.map(({ cents, id }) => captureOf({ cents, id, intentId, orderId })),
            ),
          refund: ({ cents, intentId, orderId, refundId }) =>
            record(intentId, { id: refundId, cents: -cents, outcome: "refunded" }, [
              { kind: "refunded", provider: "sandbox", orderId, paymentFact: "", intentId, refundId, cents },
            ]).pipe(Effect.as("made" as const)),
          readWebhook: (body, signature) =>
            webhookSigned(ring, body, signature, clock.now())
              ? Effect.sync(() => (JSON.parse(textOf(body)) as Message).event)
              : Effect.fail(new InvalidRequest({ error: "The signature of the webhook is not valid." })),
          forgetMethod: () => Effect.void,
          findSession: store.findSession,
          pay,
          decline,
          secretOf: (intent) => names.secretOf(intent),
          waysToPay: ({ intentId, methods, provider }, cents) =>
            provider === "sandbox" && methods.length > 0 ? invoiceMethods(intentId, cents) : methods,
          sign: (body) => signWebhook(ring, body, clock.now()),
          onWebhooks: (given) => {
            deliver = given
          },
        })
      }),
    )
}
