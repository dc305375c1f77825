import { Effect, Layer, Schedule } from "effect"
import { dueCents } from "../../machines/orders/money.ts"
import { roleScopes } from "../../schema/accounts/scope.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import { CallerCache } from "../accounts/caller-cache.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { keepLastValues } from "../directory/record-inputs.ts"
import { Records } from "../directory/records.ts"
import { writePermissionOf } from "../directory/write-permission.ts"
import type { Principal } from "../http/principal.ts"
import { Orders, type StoredOrder } from "../orders/order-store.ts"
import { PartnerVisits } from "./visits.ts"

const intervalSeconds = 10
const maxRetries = 4

export const boughtIds = ({ context }: StoredOrder): ReadonlyArray<string> =>
  context.items.flatMap(({ emojiId }) => (emojiId === undefined ? [] : [emojiId]))

/**
 * Adds the addresses that the id does not have yet. Existing addresses are left out, because a page may be loaded
 * twice, and inserting the same record again would fail. With `keepsExisting`, an existing address of the same
 * category is not replaced: the user confirmed the new address some time ago, and the owner may have changed the
 * record in the meantime.
 */
export const writeAddresses = Effect.fnUntraced(function* (
  principal: Principal,
  text: string,
  addresses: ReadonlyArray<DirectoryRecord>,
  { keepsExisting = false } = {},
) {
  if (addresses.length === 0) return
  const id = yield* checkEmojiId(text)
  // The administrator role is ignored here. Otherwise an administrator who follows a partner's link could write the
  // addresses to an id of another user, and payments to that user would go to these addresses.
  const permission = { ...writePermissionOf(principal), isAdmin: false }
  const write = Effect.gen(function* () {
    // The records are read from the database, because the lookup cache may not have the most recent write yet.
    const facts = yield* EmojiIds.use((ids) =>
      ids.findWriteFacts(id.canonical, permission.userId, permission.organizations),
    )
    const has = new Set(facts?.records.map(({ hash }) => hash))
    const kept = new Set(keepsExisting ? facts?.records.map(({ singleKey }) => singleKey) : [])
    const insert = keepLastValues(addresses)
      .filter((record) => !has.has(record.hash) && !kept.has(findSingleValueKey(record) ?? ""))
      .map(({ data, tag }) => ({ data, tag }))
    if (insert.length > 0)
      yield* Records.use((records) => records.edit(id, permission, { insert }, facts?.version))
  })
  // These errors can mean that another request wrote at the same time: the owner changed the records, or the same page
  // was loaded twice.
  const isConcurrentChange = ({ _tag }: { readonly _tag: string }) =>
    _tag === "Conflict" || _tag === "Unprocessable"
  yield* Effect.retry(write, { times: maxRetries, while: isConcurrentChange })
})

/**
 * Writes the confirmed addresses of an order to every id of the order, and marks them as written. Addresses that the
 * owner wrote before are not replaced.
 */
export const writeOrdered = Effect.fnUntraced(function* (principal: Principal, order: StoredOrder) {
  const visits = yield* PartnerVisits
  // If the cart was checked out outside a partner flow, the user has confirmed no addresses.
  const partner = order.context.checkout?.organizationId
  const addresses = partner === undefined ? [] : yield* visits.listPendingAddresses(order.context.id, partner)
  // An id that was deleted or has another owner now is skipped, so that it does not block the other ids.
  const skip = () => Effect.void
  for (const id of boughtIds(order)) {
    if (parseEmojiId(id)._tag !== "EmojiId") continue
    yield* writeAddresses(principal, id, addresses, { keepsExisting: true }).pipe(
      Effect.catchTags({ Forbidden: skip, NotFound: skip }),
    )
  }
  yield* visits.markWritten(order.context.id)
})

/**
 * Whether the order waits for a payment that was started outside this partner's flow. Such an order cannot be checked
 * out in this flow.
 */
const isCheckedOutElsewhere = ({ context, status }: StoredOrder, organizationId: string): boolean =>
  status === "PendingPayment" && dueCents(context) > 0 && context.checkout?.organizationId !== organizationId

/**
 * Returns the addresses that the ids of an order get when it is paid in this flow: those that were confirmed before,
 * and `added`, those of this visit. Empty if the order was checked out elsewhere.
 */
export const previewAddresses = Effect.fnUntraced(function* (
  order: StoredOrder,
  organizationId: string,
  added: ReadonlyArray<DirectoryRecord>,
) {
  if (isCheckedOutElsewhere(order, organizationId)) return []
  const confirmed = yield* PartnerVisits.use((visits) =>
    visits.listPendingAddresses(order.context.id, organizationId),
  )
  return keepLastValues([...confirmed, ...added])
})

/**
 * Links the visit to the order. This happens before the order can be paid, so that the addresses are known when the
 * payment arrives.
 */
export const confirmAddresses = Effect.fnUntraced(function* (
  { context }: StoredOrder,
  visitToken: string | undefined,
) {
  if (visitToken === undefined || context.items.length === 0) return
  yield* PartnerVisits.use((visits) => visits.linkOrder(visitToken, context.id))
})

/**
 * Returns the order that was already paid in this visit, or undefined. If a buy button is pressed twice, the first
 * press completes the order, and the second press finds it with this function.
 */
export const findBought = Effect.fnUntraced(function* (
  visitToken: string | undefined,
  organizationId: string,
  userId: string,
) {
  if (visitToken === undefined) return undefined
  const visit = yield* PartnerVisits.use((visits) => visits.find(visitToken, organizationId, "get"))
  const { orderId } = visit ?? {}
  const order = orderId === undefined ? undefined : yield* Orders.use((orders) => orders.find(orderId))
  return order?.status === "Paid" && order.context.userId === userId ? order : undefined
})

const writePending = Effect.gen(function* () {
  const visits = yield* PartnerVisits
  const callers = yield* CallerCache
  const orders = yield* Orders
  for (const visit of yield* visits.listUnwritten) {
    const order = yield* orders.find(visit.orderId)
    const caller = yield* callers.find(visit.userId)
    if (order === undefined || caller === undefined) continue
    const principal: Principal = {
      userId: caller.id,
      role: caller.role,
      scopes: roleScopes[caller.role],
      via: "session",
      sessionId: visit.sessionId ?? "",
      emojiId: undefined,
      organizations: caller.organizations,
      twoFactor: caller.twoFactor,
    }
    yield* writeOrdered(principal, order).pipe(
      // Only Unavailable is temporary. After any other error, for example an address that is no longer valid, a retry
      // would fail again, so the addresses are marked as written.
      Effect.catch((problem) =>
        problem._tag === "Unavailable" ? Effect.fail(problem) : visits.markWritten(visit.orderId),
      ),
    )
  }
})

/**
 * Writes the addresses of buyers who paid and did not return to the flow. The buyers confirmed the addresses by paying,
 * so the return is not needed.
 */
export const partnerRecordWrites = Layer.effectDiscard(
  writePending.pipe(
    Effect.catchCause((cause) => Effect.logDebug("writing partner addresses failed", cause)),
    Effect.repeat(Schedule.spaced(`${intervalSeconds} seconds`)),
    Effect.forkScoped,
  ),
)
