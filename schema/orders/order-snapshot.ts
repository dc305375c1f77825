import { Schema } from "effect"
import { NotReleasedReason } from "./order.ts"

/**
 * The schema of an order's stored context. `machines/orders/context.ts` explains the members. New members must be
 * optional, because stored snapshots do not have them.
 */

const optionalText = Schema.optionalKey(Schema.String)

const Item = Schema.Struct({
  id: Schema.String,
  type: Schema.Literals(["EmojiId", "LootBox", "Discount"]),
  claim: optionalText,
  emojiId: optionalText,
  lootboxId: optionalText,
  parentId: optionalText,
  codeId: optionalText,
  cents: Schema.Int,
  previousCents: Schema.optionalKey(Schema.Int),
  rhythmScore: Schema.optionalKey(Schema.Finite),
  refunded: Schema.optionalKey(Schema.Literal(true)),
  released: optionalText,
  kept: Schema.optionalKey(NotReleasedReason),
  createdAt: Schema.String,
  updatedAt: Schema.String,
})

const Checkout = Schema.Struct({
  method: Schema.Literals(["Free", "CryptoCommerce", "CardCheckout", "Cash", "WalletPay"]),
  at: Schema.String,
  expiresAt: optionalText,
  warned: Schema.optionalKey(Schema.Literal(true)),
  pubkey: Schema.String,
  email: optionalText,
  successUrl: optionalText,
  cancelUrl: optionalText,
  organizationId: optionalText,
  fees: Schema.optionalKey(Schema.Struct({ clientBasisPoints: Schema.Int, companyBasisPoints: Schema.Int })),
})

const Intent = Schema.Struct({
  attempt: Schema.Int,
  provider: Schema.String,
  intentId: Schema.String,
  sealedSecret: optionalText,
  secretKey: optionalText,
  sessionId: optionalText,
  invoiceId: Schema.optional(Schema.String),
  checkoutUrl: optionalText,
  methods: Schema.Array(
    Schema.Struct({
      address: Schema.String,
      amount: Schema.Finite,
      currency: Schema.String,
      title: Schema.String,
    }),
  ),
})

const ReplacedIntent = Schema.Struct({
  attempt: Schema.Int,
  provider: Schema.String,
  intentId: Schema.String,
  sessionId: optionalText,
  replacedAt: Schema.String,
})

const Payment = Schema.Struct({
  fact: Schema.String,
  provider: Schema.String,
  intentId: optionalText,
  externalReference: optionalText,
  operationKey: optionalText,
  cents: Schema.Int,
  at: Schema.String,
})

const Refund = Schema.Struct({
  id: Schema.String,
  provider: Schema.String,
  intentId: optionalText,
  cents: Schema.Int,
  itemIds: Schema.Array(Schema.String),
  status: Schema.Literals(["Pending", "Refunded", "Failed"]),
  ofSale: Schema.Boolean,
  at: Schema.String,
  reason: optionalText,
  externalReference: optionalText,
  operationKey: optionalText,
  whole: optionalText,
  releases: Schema.optionalKey(Schema.Literal(true)),
  takenOnAt: optionalText,
})

export const OrderContext = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  createdAt: Schema.String,
  updatedAt: Schema.String,
  items: Schema.Array(Item),
  tracking: Schema.optionalKey(Schema.Unknown),
  checkout: Schema.optional(Checkout),
  attempt: Schema.Int,
  intent: Schema.optional(Intent),
  replaced: Schema.optional(Schema.Array(ReplacedIntent)),
  payments: Schema.Array(Payment),
  refunds: Schema.Array(Refund),
  codes: Schema.Array(Schema.Struct({ codeId: Schema.String, count: Schema.Int })),
  declined: Schema.optional(Schema.String),
  paidAt: Schema.optional(Schema.String),
  cancelled: Schema.optional(
    Schema.Struct({ at: Schema.String, reason: Schema.Literals(["expired", "deleted"]) }),
  ),
  undelivered: Schema.Array(Schema.String),
})
