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
  /** The client secret. Undefined if the provider can compute it again with the key that `secretKey` names. */
  readonly clientSecret?: string
}

/** The members of an intent that identify it at its provider. */
export type IntentName = Pick<Intent, "intentId" | "sessionId">

/**
 * An event of a payment provider, converted to the terms of this service. `fact` identifies a payment: every report
 * of the same payment has the same `fact`.
 */
export type PaymentEvent =
  | {
      readonly kind: "captured"
      readonly provider: string
      readonly fact: string
      readonly orderId: string
      readonly intentId: string
      /**
       * The number of the checkout attempt. It identifies the intent if the provider creates the intent id only when
       * the buyer pays.
       */
      readonly attempt?: number
      readonly cents: number
    }
  | {
      readonly kind: "declined"
      readonly provider: string
      readonly orderId: string
      /** `intentId` and `attempt` identify the intent that was declined, as in a captured payment. */
      readonly intentId?: string
      readonly attempt?: number
      readonly reason: string
    }
  | {
      /** `refund_failed`: the provider accepted or made the refund before, and the refund has now failed. */
      readonly kind: "refunded" | "refund_failed"
      readonly provider: string
      /** Undefined for a refund that this service did not request. `paymentFact` then finds the order. */
      readonly orderId: string | undefined
      readonly paymentFact: string
      readonly intentId: string
      /**
       * The id that this service gave the refund, if this service requested it. Otherwise the id that the provider gave
       * it.
       */
      readonly refundId: string
      readonly cents: number
    }
  | {
      readonly kind: "method_used"
      readonly provider: string
      readonly orderId: string
      readonly method: PaymentMethod
    }

/** An intent that was computed without a call to the payment provider. It exists as soon as `effects` are committed. */
export interface ForeseenIntent {
  readonly made: MadeIntent
  readonly effects: TurnEffects
}

/** A payment provider. All of its functions can be called again with the same arguments without a second effect. */
export interface PaymentProvider {
  readonly name: string
  /** The smallest amount that the provider accepts, in US cents. */
  readonly leastCents: number
  /** Computes an intent without a call to the payment provider, so that the turn of the checkout can also store it. */
  readonly foresee?: (request: IntentRequest) => ForeseenIntent
  createIntent(request: IntentRequest): Effect.Effect<MadeIntent, Unavailable>
  /**
   * Cancels an intent. Does nothing if the intent is already paid or cancelled. `replaced`: the buyer chose another
   * payment method.
   */
  cancelIntent(intent: IntentName, reason?: "replaced"): Effect.Effect<void, Unavailable>
  /** Whether the provider confirms that the intent is cancelled. False if it is open, paid or unknown. */
  isCancelled(intent: IntentName): Effect.Effect<boolean, Unavailable>
  /** The payments that the buyer made for an intent, as the webhooks report them. */
  capturesOf(intent: IntentName, orderId: string): Effect.Effect<ReadonlyArray<PaymentEvent>, Unavailable>
  /** Requests a refund. `pending` means that the provider will report the outcome with a webhook. */
  refund(request: {
    /**
     * True if the refund was possibly requested before. The provider can have forgotten the idempotency key of the
     * first request, so the key alone does not prevent a second refund.
     */
    readonly isRepeated: boolean
    readonly refundId: string
    readonly orderId: string
    readonly intentId: string
    readonly cents: number
  }): Effect.Effect<"made" | "pending" | "refused", Unavailable>
  /**
   * Finds the id of the order that a payment belongs to. Only for providers whose refund events can lack the order id.
   */
  readonly findOrder?: (intentId: string) => Effect.Effect<string | undefined, Unavailable>
  /** Verifies the signature and reads the event. Undefined if the event is valid but not used by this service. */
  readWebhook(body: Uint8Array, signature: string): Effect.Effect<PaymentEvent | undefined, InvalidRequest>
  forgetMethod(methodId: string): Effect.Effect<void, Unavailable>
}
