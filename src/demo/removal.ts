import { Effect } from "effect"
import { LootboxActors } from "../../actors/lootbox.ts"
import { atMostOnce } from "../../actors/operation.ts"
import { OrderActors } from "../../actors/order.ts"
import { TransferActors } from "../../actors/transfer.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { isProblem, Unavailable } from "../../schema/errors.ts"
import { isoTime } from "../../schema/iso-time.ts"
import { lootboxKey } from "../../schema/lootboxes/lootbox.ts"
import { UserAdmin } from "../accounts/user-admin-store.ts"
import { IdRegistry } from "../directory/id-registry.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
import { Codes } from "../orders/codes/code-store.ts"
import { CodeBudgets } from "../organizations/code-budget-store.ts"
import { Members } from "../organizations/member-store.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { type DemoItem, DemoItems } from "./demo-item-store.ts"
import { hasDemoSecret } from "./logins.ts"
import { demoBudgetCents } from "./partner-facts.ts"

interface Removal {
  readonly item: DemoItem
  readonly result: string
  /** True if the item was removed or is no longer demo data. False if the next run must try again. */
  readonly isDone: boolean
}

const by = "Super"

/**
 * Converts a failure into a result, so that the other items are still removed. The next run tries the failed item
 * again. Only the error Unavailable stops the run.
 */
const reported =
  (item: DemoItem) =>
  <E, R>(work: Effect.Effect<string, E, R>) =>
    work.pipe(
      Effect.map((result): Removal => ({ item, result, isDone: true })),
      Effect.catch((error) => {
        if (error instanceof Unavailable) return Effect.fail(error)
        const why = isProblem(error) ? error.message : "It is in use. Try again in a few minutes."
        return Effect.succeed<Removal>({ item, result: `not removed: ${why}`, isDone: false })
      }),
    )

/**
 * Cancels a pending order that contains a demo lootbox. A payment that arrives afterwards is recorded, so that it can
 * be refunded.
 */
const cancelOrder = (id: string) =>
  OrderActors.use((orders) =>
    orders.turn(id, (_, now) => Effect.succeed({ type: "cancel", at: isoTime(now) })),
  )

const endTransfer = (id: string) =>
  TransferActors.use((transfers) => transfers.turn(id, (_, now) => Effect.succeed({ type: "DELETE", now })))

/**
 * Deletes a lootbox that is for sale, so that its ids become available again. A lootbox that has an owner cannot be
 * deleted, so it is opened. Its ids are released afterwards, together with the other demo ids.
 */
const endBox = Effect.fnUntraced(function* ({ target }: DemoItem) {
  const boxes = yield* LootboxActors
  const keys = yield* DefaultPubkeys
  const holders = yield* DemoItems.use((items) => items.holdersOf(lootboxKey(target)))
  yield* Effect.forEach(holders, cancelOrder, { discard: true })
  const { snapshot } = yield* boxes.turn(target, ({ snapshot: { context, value } }, now) =>
    value === "Owned" && context.ownerId !== null
      ? Effect.map(keys.of(context.ownerId), (pubkey) => ({ type: "OPEN", now, pubkey }) as const)
      : Effect.succeed({ type: "DELETE", now } as const),
  )
  return snapshot.value === "Used" ? "opened; its ids are released" : "removed"
})

const releaseId = Effect.fnUntraced(function* ({ target }: DemoItem) {
  const id = parseEmojiId(target)
  if (id._tag !== "EmojiId") return yield* Effect.die(`${target} is not an emoji id`)
  const holders = yield* DemoItems.use((items) => items.holdersOf(target))
  yield* Effect.forEach(holders, endTransfer, { discard: true })
  yield* IdRegistry.use((registry) => registry.destroy(id))
  return "released"
})

const keptAccount = (what: string) => `kept: its ${what} was changed, so it is no longer a demo account`

const endClient = Effect.fnUntraced(function* (item: DemoItem) {
  if (!(yield* hasDemoSecret(item))) return keptAccount("secret")
  yield* OauthClients.use((clients) =>
    Effect.flatMap(atMostOnce(clients.remove(item.target)), clients.removed),
  )
  return "removed"
})

/**
 * Deletes a user with their sessions, API keys, refresh tokens and memberships, unless the password was changed. Ids
 * that the user bought stay reserved.
 */
const endUser = Effect.fnUntraced(function* (item: DemoItem) {
  if (!(yield* hasDemoSecret(item))) return keptAccount("password")
  const { kept_emoji_ids: kept } = yield* UserAdmin.use((users) =>
    Effect.flatMap(atMostOnce(users.removeDemo(item.target, by)), users.removed),
  )
  return kept.length === 0 ? "removed" : `removed; ids that stay reserved: ${kept.join(" ")}`
})

/**
 * Deletes an organization that has no members. The demo users were deleted before, so remaining members are not demo
 * users. The budget that the demo granted ends in any case. A budget that the operator has set stays.
 */
const endOrganization = Effect.fnUntraced(function* ({ target }: DemoItem) {
  const budgets = yield* CodeBudgets
  if ((yield* budgets.get(target)).budget_in_cents === demoBudgetCents) yield* budgets.set(target, 0)
  const members = yield* Members.use((all) => all.list(target))
  if (members.rows.length > 0) return "kept: it has members who are not demo users"
  yield* Organizations.use((organizations) =>
    Effect.flatMap(atMostOnce(organizations.remove(target)), organizations.removed),
  )
  return "removed"
})

const endCode = ({ target }: DemoItem) =>
  Effect.as(
    Codes.use((codes) => codes.delete(target)),
    "removed",
  )

const all = Effect.fnUntraced(function* <E, R>(
  kind: DemoItem["kind"],
  end: (item: DemoItem) => Effect.Effect<string, E, R>,
) {
  const left = yield* DemoItems.use((items) => items.left)
  return yield* Effect.forEach(
    left.filter((item) => item.kind === kind),
    (item) => end(item).pipe(reported(item)),
  )
})

/** Removes all demo data that was not sold, and returns the result for each item. The command can be repeated. */
export const removeDemo = Effect.gen(function* () {
  // Lootboxes come before ids: a lootbox that has an owner is opened, and its ids must then be removed too. Ids come
  // before users: an id is demo data only while a demo user owns it.
  const boxes = yield* all("lootbox", endBox)
  const ids = yield* all("id", releaseId)
  const codes = yield* all("code", endCode)
  const clients = yield* all("client", endClient)
  const users = yield* all("user", endUser)
  const organizations = yield* all("organization", endOrganization)
  const removals = [...users, ...clients, ...organizations, ...codes, ...boxes, ...ids]
  if (removals.every(({ isDone }) => isDone)) yield* DemoItems.use((items) => items.deleteAll)
  return removals.map(({ item: { kind, shown }, result }) => ({ kind, name: shown, result }))
})
