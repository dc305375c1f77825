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
 * Gives the id those of the addresses it does not have yet: pages are loaded twice, and twice the same is refused.
 * `yields`: agreed to a while ago, so an address the owner has written since stays.
 */
export const writeAddresses = Effect.fnUntraced(function* (
  principal: Principal,
  text: string,
  addresses: ReadonlyArray<DirectoryRecord>,
  { yields = false } = {},
) {
  if (addresses.length === 0) return
  const id = yield* checkEmojiId(text)
  // To an id of theirs: that they may write to everybody's is no reason to send others' money here.
  const permission = { ...writePermissionOf(principal), isAdmin: false }
  const write = Effect.gen(function* () {
    // From the database: what was written a moment ago is not yet told to who has looked before.
    const facts = yield* EmojiIds.use((ids) =>
      ids.findWriteFacts(id.canonical, permission.userId, permission.organizations),
    )
    const has = new Set(facts?.records.map(({ hash }) => hash))
    const kept = new Set(yields ? facts?.records.map(({ singleKey }) => singleKey) : [])
    const insert = keepLastValues(addresses)
      .filter((record) => !has.has(record.hash) && !kept.has(findSingleValueKey(record) ?? ""))
      .map(({ data, tag }) => ({ data, tag }))
    if (insert.length > 0)
      yield* Records.use((records) => records.edit(id, permission, { insert }, facts?.version))
  })
  // Perhaps because the owner, or the same page, loaded twice at once, has written something meanwhile.
  const isMeanwhile = ({ _tag }: { readonly _tag: string }) => _tag === "Conflict" || _tag === "Unprocessable"
  yield* Effect.retry(write, { times: maxRetries, while: isMeanwhile })
})

/** The addresses of a visit go to every id its order has bought, once: afterwards the id is its owner's to change. */
export const writeOrdered = Effect.fnUntraced(function* (principal: Principal, order: StoredOrder) {
  const visits = yield* PartnerVisits
  // A cart that was not checked out in the end, or was taken back, may have been paid elsewhere: nothing was agreed for that.
  const partner = order.context.checkout?.organizationId
  const addresses = partner === undefined ? [] : yield* visits.awaiting(order.context.id, partner)
  // An id that is somebody else's by now, or gone, does not keep the others from theirs.
  const hasMovedOn = () => Effect.void
  for (const id of boughtIds(order)) {
    if (parseEmojiId(id)._tag !== "EmojiId") continue
    yield* writeAddresses(principal, id, addresses, { yields: true }).pipe(
      Effect.catchTags({ Forbidden: hasMovedOn, NotFound: hasMovedOn }),
    )
  }
  yield* visits.written(order.context.id)
})

/** Whether the order waits for a payment that was asked for elsewhere: it is not checked out here any more. */
const isElsewhere = ({ context, status }: StoredOrder, organizationId: string): boolean =>
  status === "PendingPayment" && dueCents(context) > 0 && context.checkout?.organizationId !== organizationId

/** What the ids of an order are given when it is paid from here: what was agreed for it before, and what this visit brings. */
export const foreseeAddresses = Effect.fnUntraced(function* (
  order: StoredOrder,
  organizationId: string,
  brought: ReadonlyArray<DirectoryRecord>,
) {
  if (isElsewhere(order, organizationId)) return []
  const agreed = yield* PartnerVisits.use((visits) => visits.awaiting(order.context.id, organizationId))
  return keepLastValues([...agreed, ...brought])
})

/** Noted before the order can be paid, so that no payment comes without its addresses being known. */
export const agreeToAddresses = Effect.fnUntraced(function* (
  { context }: StoredOrder,
  visitToken: string | undefined,
) {
  if (visitToken === undefined || context.items.length === 0) return
  yield* PartnerVisits.use((visits) => visits.ordered(visitToken, context.id))
})

/** What the visit has bought already: a button that buys is pressed twice, and the first press did it all. */
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

const writeForgotten = Effect.gen(function* () {
  const visits = yield* PartnerVisits
  const callers = yield* CallerCache
  const orders = yield* Orders
  for (const visit of yield* visits.unwritten) {
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
      // The address is refused by now: asking again would change nothing.
      Effect.catch((problem) =>
        problem._tag === "Unavailable" ? Effect.fail(problem) : visits.written(visit.orderId),
      ),
    )
  }
})

/** Whoever pays and closes the window has agreed to the addresses all the same. */
export const partnerRecordWrites = Layer.effectDiscard(
  writeForgotten.pipe(
    Effect.catchCause((cause) => Effect.logDebug("addresses put off", cause)),
    Effect.repeat(Schedule.spaced(`${intervalSeconds} seconds`)),
    Effect.forkScoped,
  ),
)
