import { Context, Effect, Layer } from "effect"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { type EmojiListItem, emojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import type { Forbidden, Unavailable } from "../../schema/errors.ts"
import type { Page, PageRequest } from "../../schema/paging.ts"
import { subjectOf } from "../accounts/permissions.ts"
import type { Principal } from "../http/principal.ts"
import type { Access } from "../http/route.ts"
import type { IdFilter } from "./id-ranges-store.ts"
import { EmojiIds, type Registered } from "./id-store.ts"

export interface ListRequest {
  readonly user_id?: string | null | undefined
  readonly organization_id?: string | null | undefined
  readonly page: PageRequest
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
    list(principal: Principal, request: ListRequest): Effect.Effect<Page<string>, Forbidden | Unavailable>
    listExtended(
      principal: Principal,
      request: ListRequest,
    ): Effect.Effect<Page<EmojiListItem>, Forbidden | Unavailable>
  }
>()("directory/IdLists") {
  static readonly layer = Layer.effect(
    IdLists,
    Effect.gen(function* () {
      const ids = yield* EmojiIds

      const find = Effect.fnUntraced(function* (principal: Principal, request: ListRequest) {
        if (principal.via === "oauth") {
          const chosen = chosenId(principal)
          return chosen === undefined ? { rows: [] } : yield* ids.page(chosen, request.page)
        }
        const subject = yield* subjectOf(
          principal,
          { user_id: request.user_id ?? null, organization_id: request.organization_id ?? null },
          listAccess,
        )
        return yield* ids.page(
          subject.kind === "user" ? { ownedBy: subject.id } : { organizationId: subject.id },
          request.page,
        )
      })

      const show = <A>(found: Page<Registered>, make: (one: Registered) => A) =>
        Effect.map(makeEach(found.rows, make), (rows) => ({ ...found, rows }))

      return IdLists.of({
        list: (principal, request) =>
          Effect.flatMap(find(principal, request), (found) =>
            show(found, ({ id, modifiers }) => displayFormat(id, modifiers ?? undefined)),
          ),
        listExtended: (principal, request) =>
          Effect.flatMap(find(principal, request), (found) => show(found, toListItem)),
      })
    }),
  )
}
