import { Effect, Layer, Schedule } from "effect"
import { dueCents } from "../../machines/orders/money.ts"
import { roleScopes } from "../../schema/accounts/scope.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import { findSingleValueKey } from "../../schema/directory/record-selection.ts"
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
 * Adds the addresses that the id does not have yet. Pages may be loaded twice, and inserting the same record again
 * would fail. `keepsExisting`: the user confirmed the addresses some time ago, so addresses that the owner wrote since
 * are not replaced.
 */
export const writeAddresses = Effect.fnUntraced(function* (
  principal: Principal,
  text: string,
  addresses: ReadonlyArray<DirectoryRecord>,
  { keepsExisting = false } = {},
) {
  if (addresses.length === 0) return
  const id = yield* checkEmojiId(text)
  // Only to ids of this user: an administrator could write to every id, and payments to other users would be
  // redirected.
  const permission = { ...writePermissionOf(principal), isAdmin: false }
  const write = Effect.gen(function* () {
    // Read from the database: the lookup cache may not have the most recent write yet.
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
  // The owner, or the same page loaded twice, may have written at the same time.
  const isConcurrentChange = ({ _tag }: { readonly _tag: string }) =>
    _tag === "Conflict" || _tag === "Unprocessable"
  yield* Effect.retry(write, { times: maxRetries, while: isConcurrentChange })
})

/** Writes the addresses of a visit to every id of its order, once. Later changes by the owner are not overwritten. */
export const writeOrdered = Effect.fnUntraced(function* (principal: Principal, order: StoredOrder) {
  const visits = yield* PartnerVisits
  // The cart may have been paid outside the partner flow. The user confirmed no addresses for that.
  const partner = order.context.checkout?.organizationId
  const addresses = partner === undefined ? [] : yield* visits.listPendingAddresses(order.context.id, partner)
  // An id that has another owner by now, or was deleted, must not block the other ids.
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
 * Whether the order waits for a payment that was started outside this partner's flow. It cannot be checked out here.
 */
const isCheckedOutElsewhere = ({ context, status }: StoredOrder, organizationId: string): boolean =>
  status === "PendingPayment" && dueCents(context) > 0 && context.checkout?.organizationId !== organizationId

/** The addresses that the ids of an order get when it is paid here: those confirmed before, and those of this visit. */
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

/** Links the visit to the order before it can be paid, so that the addresses are known when the payment arrives. */
export const confirmAddresses = Effect.fnUntraced(function* (
  { context }: StoredOrder,
  visitToken: string | undefined,
) {
  if (visitToken === undefined || context.items.length === 0) return
  yield* PartnerVisits.use((visits) => visits.linkOrder(visitToken, context.id))
})

/**
 * The order that this visit has already paid. If a buy button is pressed twice, the first press completes the order.
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
      // The address is no longer valid. Retrying would not help.
      Effect.catch((problem) =>
        problem._tag === "Unavailable" ? Effect.fail(problem) : visits.markWritten(visit.orderId),
      ),
    )
  }
})

/** Writes the addresses of buyers who paid and did not return: paying confirmed the addresses. */
export const partnerRecordWrites = Layer.effectDiscard(
  writePending.pipe(
    Effect.catchCause((cause) => Effect.logDebug("writing partner addresses failed", cause)),
    Effect.repeat(Schedule.spaced(`${intervalSeconds} seconds`)),
    Effect.forkScoped,
  ),
)
