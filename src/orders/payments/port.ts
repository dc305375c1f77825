import type { Effect } from "effect"
import type { Intent } from "../../../machines/orders/context.ts"
import type { InvalidRequest, Unavailable } from "../../../schema/errors.ts"
import type { PaymentMethod } from "../../../schema/orders/order.ts"
import type { TurnEffects } from "../../../schema/turn.ts"

export type PaidMethod = "CryptoCommerce" | "CardCheckout" | "WalletPay"

export interface IntentRequest {
  /** The same key always means the same intent: asking again after a lost answer makes no second one. */
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
  /** Of a provider that cannot say it again from its `secretKey`. */
  readonly clientSecret?: string
}

/** What a provider says has happened, in our words. `fact` is the same however often and in whatever form it is told. */
export type PaymentEvent =
  | {
      readonly kind: "captured"
      readonly provider: string
      readonly fact: string
      readonly orderId: string
      readonly intentId: string
      /** Of the request that led to it, where a provider names an intent only when it is paid. */
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
      /** Failed: it was made, or taken on, and came to nothing after all. */
      readonly kind: "refunded" | "refund_failed"
      readonly provider: string
      /** Unknown of a refund made at the provider: then the payment it gives back tells. */
      readonly orderId: string | undefined
      readonly paymentFact: string
      readonly intentId: string
      /** Ours when we asked for it, the provider's when it was made there. */
      readonly refundId: string
      readonly cents: number
    }
  | {
      readonly kind: "method_used"
      readonly provider: string
      readonly orderId: string
      readonly method: PaymentMethod
    }

/** An intent as it will be once these effects are committed. */
export interface ForeseenIntent {
  readonly made: MadeIntent
  readonly effects: TurnEffects
}

/** The outside world of money. Every call may be repeated without harm. */
export interface PaymentProvider {
  readonly name: string
  /** It takes no payment of less. */
  readonly leastCents: number
  /** Of a provider that needs nobody's answer: the intent can be made with the turn that wants it. */
  readonly foresee?: (request: IntentRequest) => ForeseenIntent
  createIntent(request: IntentRequest): Effect.Effect<MadeIntent, Unavailable>
  /** Of an intent that is paid or cancelled already: nothing. */
  cancelIntent(intent: Intent): Effect.Effect<void, Unavailable>
  /** `pending`: a webhook will tell. */
  refund(request: {
    /** It may have been asked for before, perhaps longer ago than a provider remembers requests. */
    readonly isRepeated: boolean
    readonly refundId: string
    readonly orderId: string
    readonly intentId: string
    readonly cents: number
  }): Effect.Effect<"made" | "pending" | "refused", Unavailable>
  /** The order a payment is for, where the provider tells of payments without saying so. */
  readonly findOrder?: (intentId: string) => Effect.Effect<string | undefined, Unavailable>
  /** Verifies the sender over the bytes as they came. Undefined: true, but nothing to us. */
  readWebhook(body: Uint8Array, signature: string): Effect.Effect<PaymentEvent | undefined, InvalidRequest>
  forgetMethod(methodId: string): Effect.Effect<void, Unavailable>
}
