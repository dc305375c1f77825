import type { NotReleasedReason } from "../../schema/orders/order.ts"
import type { OrganizationFees } from "../../schema/organizations/organization.ts"

/**
 * The stored context of an order. The database contains snapshots in this form, so only optional members may be
 * added.
 */

/** Why a refunded id or lootbox stays where it is. `schema/orders/order.ts` describes the values. */
export type KeptReason = NotReleasedReason

export interface OrderItem {
  readonly id: string
  readonly type: "EmojiId" | "LootBox" | "Discount"
  /**
   * The key under which the item is claimed: the canonical id, or the key of the lootbox. Undefined for a discount.
   */
  readonly claim?: string
  /** The id as the buyer wrote it. */
  readonly emojiId?: string
  readonly lootboxId?: string
  /** `parentId` and `codeId` are set for a discount: the item that is discounted, and the code that was used. */
  readonly parentId?: string
  readonly codeId?: string
  readonly cents: number
  readonly previousCents?: number
  readonly rhythmScore?: number
  readonly refunded?: true
  /** When a refund released the id or lootbox of the item. It stays released if the refund is returned. */
  readonly released?: string
  /** Why the refund of the item did not release its id or lootbox. */
  readonly kept?: KeptReason
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Checkout {
  readonly method: "Free" | "CryptoCommerce" | "CardCheckout" | "Cash" | "WalletPay"
  readonly at: string
  /** When the hold on the ids expires. Undefined if a checkout with the method Free or Cash has paid the order. */
  readonly expiresAt?: string
  readonly warned?: true
  readonly pubkey: string
  readonly email?: string
  readonly successUrl?: string
  readonly cancelUrl?: string
  /** The organization (partner) whose page or code started the checkout. */
  readonly organizationId?: string
  /** The fees of the organization at the time of the checkout. Undefined if there are none. */
  readonly fees?: OrganizationFees
}

export interface Intent {
  readonly attempt: number
  readonly provider: string
  readonly intentId: string
  readonly sealedSecret?: string
  /**
   * Names the key from which the sandbox computes the client secret again. If it is set, the secret is not stored.
   */
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

/** An intent that another payment method replaced, and that its provider has not confirmed as cancelled yet. */
export interface ReplacedIntent extends Pick<Intent, "attempt" | "provider" | "intentId" | "sessionId"> {
  readonly replacedAt: string
}

export interface Payment {
  /** Identifies the payment. Two reports with the same `fact` are reports of one payment. */
  readonly fact: string
  readonly provider: string
  readonly intentId?: string
  readonly externalReference?: string
  /** Only in payments that release 0.2.0 booked: identifies the request. */
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
  /**
   * True if the order was already paid, so that the refund reduces sales. False if the money was only held for an
   * unpaid order.
   */
  readonly ofSale: boolean
  readonly at: string
  readonly reason?: string
  readonly externalReference?: string
  /** Only in refunds that release 0.2.0 made: identifies the request. */
  readonly operationKey?: string
  /** The id of the first part of the refund. Set on every part if the refund covers several payments. */
  readonly whole?: string
  /** True if the refund releases the ids of its items. Not set in refunds that an older release recorded. */
  readonly releases?: true
  /** When the provider last reported the refund as pending. The provider then reports the outcome with a webhook. */
  readonly takenOnAt?: string
}

/** What happens to the id or lootbox of a refunded item. It is released if `kept` is not set. */
export interface ItemRelease {
  readonly itemId: string
  readonly kept?: KeptReason
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
  /**
   * Increases with each checkout, and each time the intent is removed because the amount due changed. An intent stores
   * the number that was current when it was created.
   */
  readonly attempt: number
  readonly intent?: Intent | undefined
  readonly replaced?: ReadonlyArray<ReplacedIntent> | undefined
  readonly payments: ReadonlyArray<Payment>
  readonly refunds: ReadonlyArray<Refund>
  readonly codes: ReadonlyArray<CodeHold>
  readonly declined?: string | undefined
  readonly paidAt?: string | undefined
  readonly cancelled?: { readonly at: string; readonly reason: "expired" | "deleted" } | undefined
  /**
   * The ids of lootboxes that the buyer has paid for and that are not delivered yet. The turn that pays an order now
   * delivers its lootboxes, so this is empty, except in orders that an older release paid.
   */
  readonly undelivered: ReadonlyArray<string>
}

export interface OrderInput {
  readonly id: string
  readonly userId: string
  readonly createdAt: string
  /**
   * The items that the new cart begins with. They are the items of the user's previous order if that order expired.
   */
  readonly items?: ReadonlyArray<OrderItem> | undefined
}

interface At {
  readonly at: string
}
interface DraftChange extends At {
  /** The claims of items of the draft that others have taken. The published totals do not contain these items. */
  readonly taken?: ReadonlyArray<string>
}
interface CheckoutParts extends At {
  /** The items of the order. A draft has current prices; a pending order has the prices of its first checkout. */
  readonly items: ReadonlyArray<OrderItem>
  readonly checkout: Checkout
  readonly tracking?: unknown
}

export type OrderEvent =
  | (DraftChange & {
      readonly type: "add"
      readonly items: ReadonlyArray<OrderItem>
      readonly tracking?: unknown
    })
  | (DraftChange & { readonly type: "remove"; readonly itemId: string })
  | (At & { readonly type: "clear" })
  | (CheckoutParts & {
      readonly type: "checkout.payment"
      /** The intent, if the provider can compute it. Otherwise the intent is created after the ids are held. */
      readonly intent?: Intent
    })
  /** Holds the items without paying for them. A second turn then pays. */
  | (CheckoutParts & { readonly type: "checkout.hold" })
  | (CheckoutParts & { readonly type: "checkout.free"; readonly freeIds: number })
  | (CheckoutParts & { readonly type: "checkout.cash"; readonly payment: Payment })
  | (CheckoutParts & {
      readonly type: "activate"
      readonly code: CodeHold
      /** The signed hash of alternate_id and nonce, in hexadecimal. Undefined if the code requires no signature. */
      readonly activation?: string
    })
  | (At & {
      readonly type: "promo_code"
      readonly discounts: ReadonlyArray<OrderItem>
      readonly code: CodeHold
    })
  | (At & { readonly type: "intent.made"; readonly intent: Intent })
  | (At & { readonly type: "intent.cancelled"; readonly intentId: string })
  | (At & { readonly type: "convert_to_draft" })
  | (At & { readonly type: "cancel" })
  | (At & { readonly type: "deadline" })
  | (At & {
      readonly type: "payment.captured"
      readonly payment: Payment
      /**
       * False if the ids cannot be granted: other users claimed them, a code has no uses left, the contents of a
       * lootbox changed, or the account of the buyer was deleted.
       */
      readonly idsFree: boolean
      /** The current verified address of the buyer. Undefined if the order is pending payment. */
      readonly email?: string
    })
  | (At & { readonly type: "payment.declined"; readonly reason: string })
  | (At & { readonly type: "refund"; readonly refunds: ReadonlyArray<Refund> })
  | (At & { readonly type: "refund.taken_on"; readonly refundId: string })
  | (At & {
      readonly type: "refund.made"
      readonly refundId: string
      /** The items whose refund is now complete, each with the decision about its id or lootbox. */
      readonly releases?: ReadonlyArray<ItemRelease>
    })
  | (At & { readonly type: "refund.failed"; readonly refundId: string; readonly reason: string })
  | (At & { readonly type: "refund.returned"; readonly refundId: string })
  | (At & { readonly type: "delivered"; readonly lootboxId: string })
