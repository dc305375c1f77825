import { Effect } from "effect"
import { totalCents } from "../../machines/orders/money.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { listOwned } from "../directory/id-lists.ts"
import type { Form } from "../http/request/form.ts"
import { Storefront } from "../market/storefront.ts"
import { Carts } from "../orders/cart/cart.ts"
import { OrderViews } from "../orders/order-view.ts"
import { Payments } from "../orders/payments/payments.ts"
import { cartPage } from "./cart-page.ts"
import type { Visitor } from "./page-shell.ts"
import { previewAddresses } from "./record-writes.ts"
import { type SearchShown, searchPage } from "./search-page.ts"

const suggestions = 6
const maxQueryUnits = 120

/** Returns the display form of the wanted id if the user owns it, and undefined otherwise. */
export const findOwned = Effect.fnUntraced(function* (actor: BrowserSession, wanted: string | undefined) {
  if (wanted === undefined) return undefined
  const ids = yield* listOwned(actor.account.id, wanted)
  return ids.find(({ canonical_format }) => canonical_format === wanted)?.display_format
})

/** The cart page. `failed` is the reason why the last action failed. */
export const showCart = Effect.fnUntraced(function* (
  visitor: Visitor,
  actor: BrowserSession,
  failed?: string,
) {
  const { order, user } = yield* Carts.use((carts) => carts.get(actor.account.id))
  const view = yield* OrderViews.use((views) => views.show(order, user))
  const wanted = view.order_items.filter(({ item_type }) => item_type === "EmojiId")
  const isFree =
    order.status === "Draft" &&
    wanted.length === view.order_items.length &&
    wanted.length <= user.remaining_free_emoji
  return cartPage(visitor, {
    order: view,
    addresses: yield* previewAddresses(order, visitor.partner.organization_id, visitor.visit.addresses),
    isFree: isFree || totalCents(order.context.items) === 0,
    methods: (yield* Payments).methods,
    ...(failed === undefined ? {} : { failed }),
    mayConfirm: failed !== undefined && user.email !== undefined && user.email_verified_at === undefined,
  })
})

const search = Effect.fnUntraced(function* (query: string) {
  const storefront = yield* Storefront
  const id = parseEmojiId(query)
  if (id._tag === "EmojiId") {
    const { alternates, result } = yield* storefront.search(id)
    return { result, offers: alternates.slice(0, suggestions) }
  }
  const offers = yield* storefront.random(suggestions)
  return query === "" ? { offers } : { offers, failed: id.message }
})

/** The search page: the requested id, and suggestions. */
export const showSearch = Effect.fnUntraced(function* (
  visitor: Visitor,
  actor: BrowserSession,
  query: Form,
  failed?: string,
) {
  const typed = `${query["q"] ?? ""}${query["pick"] ?? ""}`.replaceAll(/\s/g, "").slice(0, maxQueryUnits)
  const { order, user } = yield* Carts.use((carts) => carts.get(actor.account.id))
  const owned = yield* findOwned(actor, visitor.visit.eid)
  const shown: SearchShown = {
    query: typed,
    ...(yield* search(typed)),
    ...(failed === undefined ? {} : { failed }),
    picking: query["pick"] !== undefined,
    inCart: order.context.items.length,
    freeLeft: user.remaining_free_emoji,
    ...(owned === undefined ? {} : { owned }),
  }
  return searchPage(visitor, shown)
})
