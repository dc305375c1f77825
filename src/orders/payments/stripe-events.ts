import type Stripe from "stripe"
import type { PaymentEvent } from "./port.ts"

const provider = "stripe"

const idOf = (value: string | { readonly id: string } | null | undefined): string =>
  typeof value === "string" ? value : (value?.id ?? "")

const attemptOf = ({ metadata }: Stripe.PaymentIntent): { readonly attempt?: number } =>
  metadata["attempt"] === undefined ? {} : { attempt: Number(metadata["attempt"]) }

/** The payment of a payment intent that succeeded. Undefined if it is not a payment of this service. */
export const capturedBy = (intent: Stripe.PaymentIntent): PaymentEvent | undefined => {
  const orderId = intent.metadata["order_id"]
  if (orderId === undefined || intent.currency !== "usd") return undefined
  return {
    kind: "captured",
    provider,
    fact: `stripe:${intent.id}`,
    orderId,
    intentId: intent.id,
    ...attemptOf(intent),
    cents: intent.amount_received,
  }
}

const declined = (intent: Stripe.PaymentIntent): PaymentEvent | undefined => {
  const orderId = intent.metadata["order_id"]
  if (orderId === undefined) return undefined
  const reason = intent.last_payment_error?.message ?? "The payment was declined."
  return { kind: "declined", provider, orderId, intentId: intent.id, ...attemptOf(intent), reason }
}

const refunded = (refund: Stripe.Refund): PaymentEvent | undefined => {
  const intentId = idOf(refund.payment_intent)
  const orderId = refund.metadata?.["order_id"]
  const refundId = refund.metadata?.["refund_id"]
  const isFailed = refund.status === "failed" || refund.status === "canceled"
  if ((!isFailed && refund.status !== "succeeded") || intentId === "") return undefined
  return {
    kind: isFailed ? "refund_failed" : "refunded",
    provider,
    orderId,
    paymentFact: `stripe:${intentId}`,
    intentId,
    refundId: refundId ?? refund.id,
    cents: refund.amount,
  }
}

const methodUsed = (charge: Stripe.Charge): PaymentEvent | undefined => {
  const orderId = charge.metadata["order_id"]
  const card = charge.payment_method_details?.card
  if (orderId === undefined || card == null || charge.payment_method === null) return undefined
  return {
    kind: "method_used",
    provider,
    orderId,
    method: {
      id: charge.payment_method,
      payment_type: "card",
      exp_month: card.exp_month,
      exp_year: card.exp_year,
      ...(card.brand == null ? {} : { brand: card.brand }),
      ...(card.country == null ? {} : { country: card.country }),
      ...(card.last4 == null ? {} : { last4: card.last4 }),
    },
  }
}

/**
 * Converts a Stripe event to an event of this service. Undefined if the service does not use the event. Only a
 * payment intent counts as a payment. From a charge, only the used card is read.
 */
export const readStripeEvent = (event: Stripe.Event): PaymentEvent | undefined => {
  switch (event.type) {
    case "payment_intent.succeeded":
      return capturedBy(event.data.object)
    case "payment_intent.payment_failed":
      return declined(event.data.object)
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
      return refunded(event.data.object)
    case "charge.succeeded":
      return methodUsed(event.data.object)
    default:
      return undefined
  }
}
