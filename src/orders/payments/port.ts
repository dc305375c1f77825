import type { Effect } from "effect"
import type { Intent } from "../../../machines/orders/context.ts"
import type { InvalidRequest, Unavailable } from "../../../schema/errors.ts"
import type { PaymentMethod } from "../../../schema/orders/order.ts"
import type { TurnEffects } from "../../../schema/turn.ts"

export type PaidMethod = "CryptoCommerce" | "CardCheckout" | "WalletPay"

export interface IntentRequest {
  /** Identifies the intent. A repeated request with the same key returns the same intent. */
  readonly key: string
  readonly orderId: string
  readonly attempt: number
  readonly orderNumber: string
  readonly method: PaidMethod
  readonly cents: number
  readonly email: string | undefined
  readonly successUrl: string | undefined
  readonly cancelUrl: string | undefined
}

export interface MadeIntent extends Omit<Intent, "attempt" | "provider" | "sealedSecret"> {
  /** Set if the provider cannot compute the secret again from `secretKey`. */
  readonly clientSecret?: string
}

/** A provider's report in the terms of this service. `fact` identifies a payment, however often it is reported. */
export type PaymentEvent =
  | {
      readonly kind: "captured"
      readonly provider: string
      readonly fact: string
      readonly orderId: string
      readonly intentId: string
      /** The attempt of the intent request, for providers that report an intent id only with the payment. */
      readonly attempt?: number
      readonly cents: number
    }
  | {
      readonly kind: "declined"
      readonly provider: string
      readonly orderId: string
      readonly reason: string
    }
  | {
      /** `refund_failed`: a refund that was accepted or made has failed. */
      readonly kind: "refunded" | "refund_failed"
      readonly provider: string
      /** Unknown for a refund made at the provider. The order is then found by the payment. */
      readonly orderId: string | undefined
      readonly paymentFact: string
      readonly intentId: string
      /** Our id if we requested the refund, the provider's id if it was made there. */
      readonly refundId: string
      readonly cents: number
    }
  | {
      readonly kind: "method_used"
      readonly provider: string
      readonly orderId: string
      readonly method: PaymentMethod
    }

/** An intent that exists when these effects are committed. */
export interface ForeseenIntent {
  readonly made: MadeIntent
  readonly effects: TurnEffects
}

/** A payment provider. All calls are idempotent. */
export interface PaymentProvider {
  readonly name: string
  /** The minimum payment. */
  readonly leastCents: number
  /** Computes an intent without a request, so that the turn of the checkout can create it. */
  readonly foresee?: (request: IntentRequest) => ForeseenIntent
  createIntent(request: IntentRequest): Effect.Effect<MadeIntent, Unavailable>
  /** Does nothing if the intent is already paid or cancelled. */
  cancelIntent(intent: Intent): Effect.Effect<void, Unavailable>
  /** `pending`: the provider reports the outcome with a webhook. */
  refund(request: {
    /** The refund can have been requested before, perhaps before the provider's idempotency key expired. */
    readonly isRepeated: boolean
    readonly refundId: string
    readonly orderId: string
    readonly intentId: string
    readonly cents: number
  }): Effect.Effect<"made" | "pending" | "refused", Unavailable>
  /** Finds the order of a payment, for providers whose reports do not contain it. */
  readonly findOrder?: (intentId: string) => Effect.Effect<string | undefined, Unavailable>
  /** Verifies the signature of the raw body. Undefined: a valid event that this service does not use. */
  readWebhook(body: Uint8Array, signature: string): Effect.Effect<PaymentEvent | undefined, InvalidRequest>
  forgetMethod(methodId: string): Effect.Effect<void, Unavailable>
}
