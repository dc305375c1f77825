/** The stored context of an order. Snapshots in the database have this form, so members are only added. */

export interface OrderItem {
  readonly id: string
  readonly type: "EmojiId" | "LootBox" | "Discount"
  /** The claim of the item: the canonical id, or the key of a lootbox. Absent on discounts. */
  readonly claim?: string
  /** The id in the spelling of the buyer. */
  readonly emojiId?: string
  readonly lootboxId?: string
  /** For a discount: the discounted item and the code. */
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
  /** When the hold on the ids expires. Absent if the checkout paid the order immediately. */
  readonly expiresAt?: string
  readonly warned?: true
  readonly pubkey: string
  readonly email?: string
  readonly successUrl?: string
  readonly cancelUrl?: string
  /** The partner whose page or code started the checkout. */
  readonly organizationId?: string
}

export interface Intent {
  readonly attempt: number
  readonly provider: string
  readonly intentId: string
  readonly sealedSecret?: string
  /** The key from which the provider computes the secret again. The secret is then not stored. */
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
  /** Identifies the payment. A fact that is reported twice is one payment. */
  readonly fact: string
  readonly provider: string
  readonly intentId?: string
  readonly externalReference?: string
  /** The operation key of the request that booked it. */
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
  /** True if the order was Paid: the refund reduces sales. False: it returns money that was only held. */
  readonly ofSale: boolean
  readonly at: string
  readonly reason?: string
  readonly externalReference?: string
  /** The operation key of the request that made it. */
  readonly operationKey?: string
  /** For a refund of several payments: the id of its first part. */
  readonly whole?: string
  /** When the provider last reported the refund as pending. The provider then reports the outcome itself. */
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
  /** The number of intent requests. Each number is one request to the provider. */
  readonly attempt: number
  readonly intent?: Intent | undefined
  readonly payments: ReadonlyArray<Payment>
  readonly refunds: ReadonlyArray<Refund>
  readonly codes: ReadonlyArray<CodeHold>
  readonly declined?: string | undefined
  readonly paidAt?: string | undefined
  readonly cancelled?: { readonly at: string; readonly reason: "expired" | "deleted" } | undefined
  /** Lootboxes that were bought and are not delivered yet. */
  readonly undelivered: ReadonlyArray<string>
}

export interface OrderInput {
  readonly id: string
  readonly userId: string
  readonly createdAt: string
  /** The items of the expired order before this one. */
  readonly items?: ReadonlyArray<OrderItem> | undefined
}

interface At {
  readonly at: string
}
interface CheckoutParts extends At {
  /** The items at current prices. */
  readonly items: ReadonlyArray<OrderItem>
  readonly checkout: Checkout
  readonly tracking?: unknown
}

export type OrderEvent =
  | (At & { readonly type: "add"; readonly items: ReadonlyArray<OrderItem>; readonly tracking?: unknown })
  | (At & { readonly type: "remove"; readonly itemId: string })
  | (At & { readonly type: "clear" })
  | (CheckoutParts & {
      readonly type: "checkout.payment"
      /** Set if the provider can compute the intent. Otherwise it is requested after the ids are held. */
      readonly intent?: Intent
    })
  /** Holds items that the next turn pays for. */
  | (CheckoutParts & { readonly type: "checkout.hold" })
  | (CheckoutParts & { readonly type: "checkout.free"; readonly freeIds: number })
  | (CheckoutParts & { readonly type: "checkout.cash"; readonly payment: Payment })
  | (CheckoutParts & {
      readonly type: "activate"
      readonly code: CodeHold
      /** The hash of the signed message, if the code requires a signature. */
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
      /** False if other users claimed the ids of this cancelled order, or if the account of the buyer was deleted. */
      readonly idsFree: boolean
      /** For a late payment: the current address of the buyer. */
      readonly email?: string
    })
  | (At & { readonly type: "payment.declined"; readonly reason: string })
  | (At & { readonly type: "refund"; readonly refunds: ReadonlyArray<Refund> })
  | (At & { readonly type: "refund.taken_on"; readonly refundId: string })
  | (At & { readonly type: "refund.made"; readonly refundId: string })
  | (At & { readonly type: "refund.failed"; readonly refundId: string; readonly reason: string })
  | (At & { readonly type: "refund.returned"; readonly refundId: string })
  | (At & { readonly type: "delivered"; readonly lootboxId: string })
