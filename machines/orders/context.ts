/** What an order remembers. It is stored as it stands, so members are only ever added. */

export interface OrderItem {
  readonly id: string
  readonly type: "EmojiId" | "LootBox" | "Discount"
  /** What a checkout claims: the canonical id, or the key of a lootbox. Absent on discounts. */
  readonly claim?: string
  /** The id as its buyer spelled it. */
  readonly emojiId?: string
  readonly lootboxId?: string
  /** Of a discount: the item it lowers, and the code that gave it. */
  readonly parentId?: string
  readonly codeId?: string
  readonly cents: number
  readonly previousCents?: number
  readonly rhythmScore?: number
  readonly refunded?: true
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Checkout {
  readonly method: "Free" | "CryptoCommerce" | "CardCheckout" | "Cash" | "WalletPay"
  readonly at: string
  /** When the hold on the ids ends. Absent when the checkout paid at once. */
  readonly expiresAt?: string
  readonly warned?: true
  readonly pubkey: string
  readonly email?: string
  readonly successUrl?: string
  readonly cancelUrl?: string
  /** The partner it came through: by its page, or by a code of its own. */
  readonly organizationId?: string
}

export interface Intent {
  readonly attempt: number
  readonly provider: string
  readonly intentId: string
  readonly sealedSecret?: string
  /** The key from which the provider makes its secret again: then none is kept. */
  readonly secretKey?: string
  readonly sessionId?: string
  readonly invoiceId?: string | undefined
  readonly checkoutUrl?: string
  readonly methods: ReadonlyArray<{
    readonly address: string
    readonly amount: number
    readonly currency: string
    readonly title: string
  }>
}

export interface Payment {
  /** Names what happened at the provider: the same fact told twice is one payment. */
  readonly fact: string
  readonly provider: string
  readonly intentId?: string
  readonly externalReference?: string
  readonly operationKey?: string
  readonly cents: number
  readonly at: string
}

export interface Refund {
  readonly id: string
  readonly provider: string
  readonly intentId?: string
  readonly cents: number
  readonly itemIds: ReadonlyArray<string>
  readonly status: "Pending" | "Refunded" | "Failed"
  /** Made while the order was Paid: it gives back a sale, not money that was only held. */
  readonly ofSale: boolean
  readonly at: string
  readonly reason?: string
  readonly externalReference?: string
  readonly operationKey?: string
  /** Of one that goes back to several payments: the id of its first part. */
  readonly whole?: string
  /** When the provider last said that it is on its way: from then on it tells by itself. */
  readonly takenOnAt?: string
}

export interface CodeHold {
  readonly codeId: string
  readonly count: number
}

export interface OrderContext {
  readonly id: string
  readonly userId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly items: ReadonlyArray<OrderItem>
  readonly tracking?: unknown
  readonly checkout?: Checkout | undefined
  /** How often a payment was asked for; a provider is asked once per number. */
  readonly attempt: number
  readonly intent?: Intent | undefined
  readonly payments: ReadonlyArray<Payment>
  readonly refunds: ReadonlyArray<Refund>
  readonly codes: ReadonlyArray<CodeHold>
  readonly declined?: string | undefined
  readonly paidAt?: string | undefined
  readonly cancelled?: { readonly at: string; readonly reason: "expired" | "deleted" } | undefined
  /** Boxes that were bought and not handed over yet. */
  readonly undelivered: ReadonlyArray<string>
}

export interface OrderInput {
  readonly id: string
  readonly userId: string
  readonly createdAt: string
  /** What an expired order leaves to the next one. */
  readonly items?: ReadonlyArray<OrderItem> | undefined
}

interface At {
  readonly at: string
}
interface CheckoutFacts extends At {
  /** The items at today's prices. */
  readonly items: ReadonlyArray<OrderItem>
  readonly checkout: Checkout
  readonly tracking?: unknown
}

export type OrderEvent =
  | (At & { readonly type: "add"; readonly items: ReadonlyArray<OrderItem>; readonly tracking?: unknown })
  | (At & { readonly type: "remove"; readonly itemId: string })
  | (At & { readonly type: "clear" })
  | (CheckoutFacts & {
      readonly type: "checkout.payment"
      /** What its provider could say beforehand; without it the provider is asked once the ids are held. */
      readonly intent?: Intent
    })
  /** Only holds what is paid for at once afterwards. */
  | (CheckoutFacts & { readonly type: "checkout.hold" })
  | (CheckoutFacts & { readonly type: "checkout.free"; readonly freeIds: number })
  | (CheckoutFacts & { readonly type: "checkout.cash"; readonly payment: Payment })
  | (CheckoutFacts & {
      readonly type: "activate"
      readonly code: CodeHold
      /** The hash of what was signed for it, where that was needed. */
      readonly activation?: string
    })
  | (At & {
      readonly type: "promo_code"
      readonly discounts: ReadonlyArray<OrderItem>
      readonly code: CodeHold
    })
  | (At & { readonly type: "intent.made"; readonly intent: Intent })
  | (At & { readonly type: "convert_to_draft" })
  | (At & { readonly type: "cancel" })
  | (At & { readonly type: "deadline" })
  | (At & {
      readonly type: "payment.captured"
      readonly payment: Payment
      /** False after the database said that ids of this cancelled order have gone to others, or that its buyer has gone. */
      readonly idsFree: boolean
      /** Of one that comes late: where its buyer reads mail by now. */
      readonly email?: string
    })
  | (At & { readonly type: "payment.declined"; readonly reason: string })
  | (At & { readonly type: "refund"; readonly refunds: ReadonlyArray<Refund> })
  | (At & { readonly type: "refund.taken_on"; readonly refundId: string })
  | (At & { readonly type: "refund.made"; readonly refundId: string })
  | (At & { readonly type: "refund.failed"; readonly refundId: string; readonly reason: string })
  | (At & { readonly type: "refund.returned"; readonly refundId: string })
  | (At & { readonly type: "delivered"; readonly lootboxId: string })
