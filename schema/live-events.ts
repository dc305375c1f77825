import { Schema } from "effect"
import { TwoFactorProvider } from "./accounts/user.ts"
import { IdChangedEvent } from "./directory/history.ts"
import { paymentMethods } from "./orders/order.ts"
import { TransferStatus } from "./transfers/transfer.ts"
import { DateTime, Int, Uuid } from "./wire-format.ts"

/** This file defines the events of the channels of the live protocol, and their data. */

const described = (description: string) => ({ description })
const hashes = (description: string) => Schema.Array(Schema.String).annotateKey(described(description))

const emojiId = Schema.String.annotate(described("The emoji id in its canonical spelling."))
const version = Schema.Int.annotate(
  described("The version of the emoji id after the change. A lookup returns this version or a later one."),
)

const IdNamed = Schema.Struct({ emoji_id: emojiId }).annotate({ identifier: "EmojiIdEventData" })
const Registered = Schema.Struct({
  emoji_id: emojiId,
  version: Schema.optionalKey(version).annotateKey(
    described("The version of the emoji id. Missing if it was sold or won: then look the id up."),
  ),
}).annotate({ identifier: "EmojiIdRegisteredData" })
const RecordsChanged = Schema.Struct({
  emoji_id: emojiId,
  version,
  inserted: hashes("The hashes of the records that were added."),
  deleted: hashes("The hashes of the records that were removed or replaced."),
  store_key: Schema.optionalKey(Schema.String).annotateKey(
    described("The key of the JSON store that was written. Only if a document was stored."),
  ),
}).annotate({ identifier: "EmojiIdRecordsData" })
const Minted = Schema.Struct({
  emoji_id: emojiId,
  version,
  minted: Schema.Boolean.annotate(described("Whether the token exists now. False if it was destroyed.")),
}).annotate({ identifier: "EmojiIdMintedData" })

const orderId = Uuid.annotate(described("The id of the order."))
const OrderSummary = Schema.Struct({
  order_id: orderId,
  status: Schema.Literals(["Cancelled", "Draft", "Paid", "PendingPayment"]).annotate(
    described("The status of the order now."),
  ),
  items: Int.annotate(described("The number of items.")),
  total_in_cents: Int.annotate(described("The price of all items, in cents.")),
  remaining_due_in_cents: Int.annotate(described("What must still be paid, in cents.")),
  expires_at: Schema.optionalKey(DateTime).annotateKey(
    described("The deadline of the payment. Only while a payment is pending."),
  ),
  method: Schema.optionalKey(Schema.Literals(paymentMethods)).annotateKey(
    described("The payment method. Only while a payment is pending."),
  ),
}).annotate({ identifier: "OrderEventData" })
const OrderNamed = Schema.Struct({ order_id: orderId }).annotate({ identifier: "OrderNamedData" })

const TransferChanged = Schema.Struct({
  id: Uuid.annotate(described("The id of the transfer.")),
  eid: emojiId,
  status: TransferStatus.annotateKey(described("The status of the transfer now.")),
  sender_id: Uuid.annotate(described("The user who sends the emoji id.")),
  recipient_id: Uuid.annotate(described("The user who receives it.")),
}).annotate({ identifier: "TransferEventData" })

const boxId = Uuid.annotate(described("The id of the lootbox."))
const BoxNamed = Schema.Struct({ id: boxId }).annotate({ identifier: "LootboxEventData" })
const BoxOpened = Schema.Struct({
  id: boxId,
  emoji_ids: Schema.Array(Schema.String).annotateKey(described("The emoji ids that were in it.")),
}).annotate({ identifier: "LootboxOpenedData" })

const session_id = Uuid.annotate(described("The id of the session."))
const SessionNamed = Schema.Struct({ session_id }).annotate({ identifier: "SessionEventData" })
const TwoFactorNeeded = Schema.Struct({
  session_id,
  provider: TwoFactorProvider.annotateKey(described("Where the user gets the code.")),
}).annotate({ identifier: "SessionTwoFactorRequiredData" })
const TwoFactorLocked = Schema.Struct({
  session_id: Uuid.annotate(
    described("The login in which a code was refused. It may be a login of another person."),
  ),
  locked_until: DateTime.annotate(described("No code is accepted in any login before this time.")),
}).annotate({ identifier: "SessionTwoFactorLockedData" })
const LoggedOut = Schema.Struct({
  session_id: Schema.optionalKey(Uuid).annotateKey(
    described("The session that has ended. Missing if all sessions of the user have ended."),
  ),
  reason: Schema.String.annotate(
    described("Why, for example `ended`, `logout`, `password_changed` or `too_many_sessions`."),
  ),
}).annotate({ identifier: "SessionLoggedOutData" })

interface LiveEvent {
  /** The channels in which the event appears, as the list of channels names them. */
  readonly channels: ReadonlyArray<string>
  readonly summary: string
  readonly data: Schema.Top
}

const idChannel = ["emoji_id:{emoji_id}"]
const orderChannel = ["order:{id}"]
const ownOrder = ["cart", ...orderChannel]
const transferChannels = ["transfers", "transfer:{id}"]

const event = (channels: ReadonlyArray<string>, data: Schema.Top, summary: string): LiveEvent => ({
  channels,
  data,
  summary,
})

/** The events, by type. Every event that a machine or a function of the database publishes is in this table. */
export const liveEvents = {
  "emoji_id.registered": event(idChannel, Registered, "The emoji id was registered: it has an owner now."),
  "emoji_id.records": event(
    idChannel,
    RecordsChanged,
    "Records were added or removed, or a document was stored. Look the id up to get the records.",
  ),
  "emoji_id.owner": event(
    idChannel,
    IdNamed,
    "The emoji id has a new owner. Check the records again before a payment.",
  ),
  "emoji_id.minted": event(idChannel, Minted, "The token of the emoji id was created or destroyed."),
  "emoji_id.released": event(
    idChannel,
    IdNamed,
    "The emoji id has no owner any more, and it has no records. Never pay to an address of it.",
  ),
  "emoji_ids.changed": event(
    ["emoji_ids"],
    IdChangedEvent,
    "An emoji id of the user was changed, got another owner, or was removed.",
  ),
  "market.purchased": event(["market"], IdNamed, "An emoji id was sold."),
  "market.released": event(["market"], IdNamed, "An emoji id can be bought again."),
  "cart.changed": event(ownOrder, OrderSummary, "The order has changed."),
  "cart.expiring": event(ownOrder, OrderSummary, "The order expires in less than a minute."),
  "cart.expired": event(ownOrder, OrderSummary, "The order was not paid in time and is cancelled."),
  "order.changed": event(
    orderChannel,
    Schema.Union([OrderSummary, OrderNamed]),
    "The order has changed. Read it again: `data` may have only its id.",
  ),
  "order.payment_received": event(orderChannel, OrderNamed, "A payment was received. Read the order again."),
  "order.paid": event(orderChannel, OrderSummary, "The order is paid."),
  "order.refunded": event(orderChannel, OrderNamed, "A refund was made. Read the order again."),
  "transfer.created": event(transferChannels, TransferChanged, "A transfer was started."),
  "transfer.sender_accepted": event(transferChannels, TransferChanged, "The sender confirmed the transfer."),
  "transfer.accepted": event(
    transferChannels,
    TransferChanged,
    "The transfer is complete. The recipient owns the emoji id.",
  ),
  "transfer.deleted": event(transferChannels, TransferChanged, "A party cancelled the transfer."),
  "transfer.expired": event(transferChannels, TransferChanged, "Nobody accepted the transfer in time."),
  "lootbox.owned": event(["lootboxes"], BoxNamed, "The user got a lootbox."),
  "lootbox.opened": event(["lootboxes"], BoxOpened, "The user opened a lootbox and owns its emoji ids."),
  "lootbox.returned": event(["lootboxes"], BoxNamed, "The order of a lootbox was refunded."),
  "session.two_factor_required": event(["session"], TwoFactorNeeded, "A login waits for a code."),
  "session.verified": event(["session"], SessionNamed, "A code was accepted, or no code is needed any more."),
  "session.two_factor_stale": event(
    ["session"],
    SessionNamed,
    "Sensitive operations of this session answer 424 until a new code was sent.",
  ),
  "session.two_factor_locked": event(["session"], TwoFactorLocked, "Too many wrong codes were sent."),
  "session.logged_out": event(["session"], LoggedOut, "A session has ended. The socket is closed next."),
  "interest.available": event(["interests"], IdNamed, "An emoji id on the list of the user can be bought."),
} as const satisfies Record<string, LiveEvent>
