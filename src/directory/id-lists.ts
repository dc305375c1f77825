import { Context, Effect, Layer, type Schema } from "effect"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { type EmojiListItem, emojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import type { Forbidden, InvalidRequest, Unavailable } from "../../schema/errors.ts"
import { type ListForm, type Page, type PageRequest, pageRequest } from "../../schema/paging.ts"
import { subjectOf } from "../accounts/permissions.ts"
import type { Principal } from "../http/principal.ts"
import type { Access } from "../http/route.ts"
import { EmojiIds, type IdFilter, idListOf, type idQuery, type Registered } from "./id-store.ts"

export type IdListQuery = Schema.Struct<typeof idQuery>["Type"] & {
  readonly user_id?: string
  readonly organization_id?: string
}

/** A page of a list, and the list and the request that its cursors belong to. */
interface Listed<Row> {
  readonly list: ListForm
  readonly request: PageRequest
  readonly page: Page<Row>
}

export const listAccess = {
  own: "userEmoji:list",
  organization: "organizationEmoji:list",
  others: "adminEmoji:load",
} as const satisfies Access

/**
 * Returns the filter for the one id that an OAuth token was issued for. The filter matches only while the user still
 * owns the id. Returns undefined if the token has no valid id.
 */
const chosenId = (principal: Principal): IdFilter | undefined => {
  const id = parseEmojiId(principal.emojiId ?? "")
  return id._tag === "EmojiId" ? { ownedBy: principal.userId, canonical: id.canonical } : undefined
}

const maxOwned = 500

/**
 * Lists the first 500 ids of a user, for pages where the user selects an id. The `selected` id is always in the list,
 * if the user owns it.
 */
export const listOwned = Effect.fnUntraced(function* (userId: string, selected: string | undefined) {
  const ids = yield* EmojiIds
  const owned = yield* ids.list({ ownedBy: userId }, maxOwned)
  const mayBeMissing = owned.length === maxOwned && !owned.some(({ id }) => id.canonical === selected)
  const others =
    selected !== undefined && mayBeMissing ? yield* ids.list({ ownedBy: userId, canonical: selected }, 1) : []
  return [...owned, ...others].map(toListItem)
})

export const toListItem = (registered: Registered): EmojiListItem =>
  emojiListItem(registered.id, rhythmScore(registered.id), registered)

const itemsPerStep = 500

/**
 * Calls `make` for each item and returns the results. After every 500 items it yields to the event loop, so that a list
 * of thousands of ids does not block other requests.
 */
export const makeEach = Effect.fnUntraced(function* <A, B>(all: ReadonlyArray<A>, make: (one: A) => B) {
  const made: Array<B> = []
  for (let from = 0; from < all.length; from += itemsPerStep) {
    if (from > 0) yield* Effect.yieldNow
    for (const one of all.slice(from, from + itemsPerStep)) made.push(make(one))
  }
  return made
})

/** Lists the ids of a user or an organization, if the caller has the permission. */
export class IdLists extends Context.Service<
  IdLists,
  {
    /** Returns the ids in display format. */
    list(
      principal: Principal,
      query: IdListQuery,
    ): Effect.Effect<Listed<string>, Forbidden | InvalidRequest | Unavailable>
    listExtended(
      principal: Principal,
      query: IdListQuery,
    ): Effect.Effect<Listed<EmojiListItem>, Forbidden | InvalidRequest | Unavailable>
  }
>()("directory/IdLists") {
  static readonly layer = Layer.effect(
    IdLists,
    Effect.gen(function* () {
      const ids = yield* EmojiIds

      const filterOf = Effect.fnUntraced(function* (principal: Principal, query: IdListQuery) {
        if (principal.via === "oauth") return chosenId(principal)
        const { organization_id = null, user_id = null } = query
        const subject = yield* subjectOf(principal, { user_id, organization_id }, listAccess)
        return subject.kind === "user" ? { ownedBy: subject.id } : { organizationId: subject.id }
      })
      const find = Effect.fnUntraced(function* <A>(
        principal: Principal,
        query: IdListQuery,
        make: (one: Registered) => A,
      ) {
        const filter = yield* filterOf(principal, query)
        const list = idListOf(filter ?? { ownedBy: principal.userId })
        const request = yield* pageRequest(list, query)
        const found = filter === undefined ? { rows: [] } : yield* ids.page(filter, request)
        return { list, request, page: { ...found, rows: yield* makeEach(found.rows, make) } }
      })

      return IdLists.of({
        list: (principal, query) =>
          find(principal, query, ({ id, modifiers }) => displayFormat(id, modifiers ?? undefined)),
        listExtended: (principal, query) => find(principal, query, toListItem),
      })
    }),
  )
}
