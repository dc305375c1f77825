/** An input and a list of events for each machine. Random sequences of these events reach every state. */

const at = "2030-01-01T00:00:00.000Z"
const later = "2030-01-01T01:00:00.000Z"

const item = (id: string, cents: number) => ({
  id,
  type: "EmojiId",
  claim: id,
  emojiId: id,
  cents,
  rhythmScore: 40,
  createdAt: at,
  updatedAt: at,
})
const items = [item("🚀🚀", 500), item("🐙🐙", 500)]
const box = {
  id: "b",
  type: "LootBox",
  claim: "lootbox:1",
  lootboxId: "1",
  cents: 700,
  createdAt: at,
  updatedAt: at,
}
const discount = {
  id: "d",
  type: "Discount",
  parentId: "🚀🚀",
  codeId: "c",
  cents: -100,
  createdAt: at,
  updatedAt: at,
}
const free = { ...discount, cents: -500 }
const checkout = {
  method: "CardCheckout",
  at,
  expiresAt: later,
  pubkey: "k",
  email: "a@b.c",
  successUrl: "https://a",
}
const intent = {
  attempt: 1,
  provider: "sandbox",
  intentId: "i",
  sealedSecret: "s",
  invoiceId: undefined,
  methods: [{ address: "a", amount: 0.5, currency: "BTC", title: "Bitcoin" }],
}
const payment = (cents: number, fact: string) => ({ fact, provider: "sandbox", intentId: "i", cents, at })
const refund = {
  id: "r",
  provider: "sandbox",
  intentId: "i",
  cents: 1,
  itemIds: [],
  status: "Pending",
  ofSale: true,
  at,
}

const issue = {
  code: { hash: "h", sentAt: 0, expiresAt: 600_000, wrongTries: 0, resends: 0 },
  mail: { to: "x", kind: "y", data: {} },
}
const accept = { pubkey: null, blockedSeconds: 1, mails: [] }

const device = { name: "curl/8.5.0", address: "192.0.2.1" }

const change = (type: string, to: string) => ({
  type,
  now: 1,
  to,
  ids: [{ canonical: "🍕", score: 50 }],
  ownerId: to === "Owned" || to === "Used" ? "o" : null,
  pubkey: "k",
})

export const machineWalks = {
  order: {
    input: { id: "o", userId: "u", createdAt: at },
    events: [
      { type: "add", items: [...items, box], tracking: { from: ["a", 1, null] }, at },
      { type: "remove", itemId: "🚀🚀", at },
      { type: "clear", at },
      { type: "checkout.payment", items: [...items, box], checkout, intent, at },
      { type: "checkout.payment", items, checkout: { ...checkout, method: "CryptoCommerce" }, at },
      { type: "intent.cancelled", intentId: "i", at },
      { type: "checkout.hold", items, checkout, at },
      { type: "checkout.free", items: [item("🚀🚀", 500), free], checkout, freeIds: 1, at },
      { type: "checkout.cash", items, checkout, payment: payment(1, "cash:1"), at },
      { type: "activate", items: [item("🚀🚀", 500), free], checkout, code: { codeId: "c", count: 1 }, at },
      { type: "promo_code", discounts: [discount], code: { codeId: "c", count: 1 }, at },
      { type: "intent.made", intent, at },
      { type: "convert_to_draft", at },
      { type: "cancel", at },
      { type: "deadline", at: "2030-01-01T00:59:30.000Z" },
      { type: "deadline", at: later },
      { type: "payment.captured", payment: payment(2000, "p1"), idsFree: true, at },
      { type: "payment.captured", payment: payment(10, "p2"), idsFree: true, email: "a@b.c", at },
      { type: "payment.declined", reason: "no", at },
      { type: "refund", refunds: [refund], at },
      { type: "refund.taken_on", refundId: "r", at },
      { type: "refund.made", refundId: "r", at },
      { type: "refund.failed", refundId: "r", reason: "no", at },
      { type: "refund.returned", refundId: "r", at },
      { type: "delivered", lootboxId: "1", at },
    ],
  },
  session: {
    input: { id: "s", userId: "u", epoch: 3 },
    events: [
      { type: "OPEN", at: 0, expiresAt: 1000, device, wants: "SMS", verifiedAt: null },
      { type: "OPEN", at: 0, expiresAt: 1000, device, wants: null, verifiedAt: 0.5 },
      { type: "ROTATE", at: 10, expiresAt: 1010, device },
      { type: "ADMIT", at: 10, expiresAt: 1010, device },
      { type: "VERIFY", at: 10.25, expiresAt: 1010, device },
      { type: "PROVE", at: 10 },
      { type: "LOCK", until: 500 },
      { type: "REVOKE", reason: "logout" },
      { type: "DUE", at: 600 },
      { type: "DUE", at: 2000 },
    ],
  },
  transfer: {
    input: {
      id: "t",
      eid: "🍕",
      sender: { id: "s", email: null },
      recipient: { id: "r", email: "" },
      pubkey: "k",
      clearOnTransfer: true,
      message: "hi",
      forced: false,
    },
    events: [
      { type: "REQUEST", now: 0, expiresAt: 1_000_000, issue },
      { type: "SENDER_ACCEPT", now: 1, matches: true, issue },
      { type: "SENDER_ACCEPT", now: 1, matches: false, issue },
      { type: "RECEIVER_ACCEPT", now: 1, matches: true, ...accept },
      { type: "RECEIVER_ACCEPT", now: 1, matches: false, ...accept },
      { type: "RESEND", now: 60_000, issue },
      { type: "DELETE", now: 1 },
      { type: "EXPIRE", now: 1_000_000 },
    ],
  },
  lootbox: {
    input: { id: "l", typeId: null, ids: [] },
    events: [
      ...["Draft", "Available", "Owned", "Used"].flatMap((to) => [
        change("CREATE", to),
        change("REVISE", to),
      ]),
      { ...change("REVISE", "Available"), ids: [{ canonical: "🐙", score: 60 }] },
      { type: "BUY", now: 1, orderId: "b", buyerId: "o" },
      { type: "RETURN", now: 1, orderId: "b", buyerId: "o" },
      { type: "OPEN", now: 1, pubkey: "k" },
      { type: "DELETE", now: 1 },
    ],
  },
} as const
