import { Schema } from "effect"
import { DisplayUser } from "../accounts/user.ts"
import { Cents, DateTime, Int, jsonUpTo, optional, text, Uuid } from "../wire-format.ts"

export const OrderStatus = Schema.Literals(["Cancelled", "Draft", "Paid", "PendingPayment"])
export type OrderStatus = typeof OrderStatus.Type

export const maxCartItems = 50

/**
 * Data that a client stores with an order for its own statistics. Limited, because every order keeps it. A cancelled
 * order loses it after a week.
 */
export const TrackingData = jsonUpTo(4096)

/** The actions that `allowed_actions` of an order can contain. */
export const orderActions = [
  "add",
  "remove",
  "clear",
  "checkout",
  "promo_code",
  "convert_to_draft",
  "cancel",
  "refund",
] as const
export type OrderAction = (typeof orderActions)[number]

const InvalidReason = Schema.Literals(["Taken", "PendingPurchase"])
export type InvalidReason = typeof InvalidReason.Type

/**
 * Why the refund of an item did not release its id or lootbox: the administrator asked to keep it (`keep_ids`), only a
 * part of the price was refunded, the buyer does not own it through this order any more, it is minted or may be minted,
 * it is in an active transfer, or the lootbox was opened.
 */
export const NotReleasedReason = Schema.Literals([
  "requested",
  "partially_refunded",
  "not_owned",
  "minted",
  "mint_permitted",
  "in_transfer",
  "opened",
])
export type NotReleasedReason = typeof NotReleasedReason.Type

export const DisplayOrderItem = Schema.Struct({
  id: Uuid,
  order_id: Uuid,
  item_type: Schema.Literals(["Discount", "LootBox", "EmojiId"]),
  quantity: Int,
  refunded_quantity: Int,
  unit_price_in_cents: Cents,
  client_fee_in_cents: Cents,
  company_fee_in_cents: Cents,
  created_at: DateTime,
  updated_at: DateTime,
  code_id: Schema.optionalKey(Uuid),
  main_id: Schema.optionalKey(Uuid),
  main_table: Schema.optionalKey(Schema.String),
  parent_id: Schema.optionalKey(Uuid),
  emoji_id: Schema.optionalKey(Schema.String),
  rhythm_score: Schema.optionalKey(Int),
  marked_invalid_at: Schema.optionalKey(DateTime),
  marked_invalid_at_reason: Schema.optionalKey(InvalidReason),
  /** The price that the item had before the checkout updated it. */
  previous_unit_price_in_cents: Schema.optionalKey(Cents),
  /** When the refund of the item released its id or lootbox. */
  released_at: Schema.optionalKey(DateTime),
  /** Why the refund of the item did not release its id or lootbox. */
  not_released_reason: Schema.optionalKey(NotReleasedReason),
}).annotate({ identifier: "DisplayOrderOrderItems" })

const PaymentMethodData = Schema.Struct({
  method: Schema.Literals(["CryptoCommerce", "CardCheckout"]),
  methods: Schema.Array(
    Schema.Struct({
      address: Schema.String,
      amount: Schema.Finite,
      currency: Schema.String,
      title: Schema.String,
    }),
  ),
  client_secret: Schema.String,
  payment_intent_id: Schema.String,
  cancel_url: Schema.optionalKey(Schema.String),
  success_url: Schema.optionalKey(Schema.String),
  invoice_id: Schema.optionalKey(Schema.String),
  session_id: Schema.optionalKey(Schema.String),
  /** The URL of the page where the buyer pays. */
  checkout_url: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "DisplayOrderPaymentMethodData" })

export const DisplayOrder = Schema.Struct({
  id: Uuid,
  order_number: Schema.String,
  status: OrderStatus,
  created_at: DateTime,
  updated_at: DateTime,
  user_id: Uuid,
  user: DisplayUser,
  total_in_cents: Cents,
  remaining_due_in_cents: Cents,
  amount_overpaid_in_cents: Cents,
  refunded_total_in_cents: Cents,
  misc_refunded_total_in_cents: Cents,
  eligible_for_refund: Schema.Boolean,
  order_items: Schema.Array(DisplayOrderItem),
  allowed_actions: Schema.Array(Schema.Literals(orderActions)),
  expires_at: Schema.optionalKey(DateTime),
  seconds_until_expiry: Schema.optionalKey(Int),
  paid_at: Schema.optionalKey(DateTime),
  organization_id: Schema.optionalKey(Uuid),
  payment_method_data: Schema.optionalKey(PaymentMethodData),
  /** The provider's message about the last declined payment. */
  last_payment_error: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "DisplayOrder" })
export type DisplayOrder = typeof DisplayOrder.Type

const CartItem = Schema.Union([
  Schema.Struct({ emoji_id: text(64) }),
  Schema.Struct({ lootbox_id: Uuid }),
]).annotate({ identifier: "AddItemsCartRequestItems" })

export const AddItemsCartRequest = Schema.Struct({
  items: Schema.Array(CartItem).check(Schema.isMinLength(1), Schema.isMaxLength(maxCartItems)),
  tracking_data: optional(TrackingData),
}).annotate({ identifier: "AddItemsCartRequest" })

export const paymentMethods = ["Free", "CryptoCommerce", "CardCheckout", "Cash", "WalletPay"] as const

const maxAmountCents = 100_000_000_000
const amount = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxAmountCents }))

export const CheckoutCartRequest = Schema.Struct({
  method: Schema.Literals(paymentMethods),
  amount: optional(amount),
  external_reference: optional(text(200)),
  cancel_url: optional(text(2000)),
  success_url: optional(text(2000)),
  pubkey: optional(text(130)),
  tracking_data: optional(TrackingData),
}).annotate({ identifier: "CheckoutCartRequest" })
export type CheckoutCartRequest = typeof CheckoutCartRequest.Type

export const ApplyPromoCodeRequest = Schema.Struct({ code: text(64) }).annotate({
  identifier: "ApplyPromoCodeRequest",
})

/**
 * A request without `item_ids` and `amount` refunds everything that is not refunded yet. The ids of fully refunded items
 * are released, unless `keep_ids` is true.
 */
export const RefundRequest = Schema.Struct({
  item_ids: optional(Schema.Array(Uuid).check(Schema.isMinLength(1), Schema.isMaxLength(maxCartItems))),
  amount: optional(amount),
  reason: optional(text(500)),
  keep_ids: optional(Schema.Boolean),
}).annotate({ identifier: "RefundRequest" })
export type RefundRequest = typeof RefundRequest.Type

/** The reference that identifies a payment or refund in an external system. It must not be blank. */
const reference = text(200).check(
  Schema.isPattern(/\S/, { message: "Expected a reference that is not blank." }),
)

export const RefundOverrideRequest = Schema.Struct({
  amount,
  external_reference: reference,
  reason: optional(text(500)),
}).annotate({ identifier: "RefundOverrideRequest" })

export const PaymentOverrideRequest = Schema.Struct({ amount, external_reference: reference }).annotate({
  identifier: "PaymentOverrideRequest",
})

export const DisplayRefund = Schema.Struct({
  id: Schema.String,
  order_id: Uuid,
  amount_in_cents: Cents,
  status: Schema.Literals(["Pending", "Refunded", "Failed"]),
  provider: Schema.String,
  item_ids: Schema.Array(Uuid),
  created_at: DateTime,
  reason: Schema.optionalKey(Schema.String),
  external_reference: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "DisplayRefund" })

export const PaymentMethod = Schema.Struct({
  id: Schema.String,
  payment_type: Schema.String,
  brand: Schema.optionalKey(Schema.String),
  country: Schema.optionalKey(Schema.String),
  last4: Schema.optionalKey(Schema.String),
  exp_month: Schema.optionalKey(Int),
  exp_year: Schema.optionalKey(Int),
  is_default: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "PaymentMethod" })
export type PaymentMethod = typeof PaymentMethod.Type
