import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { NotFound, type Unavailable, Unprocessable } from "../../schema/errors.ts"
import type { UserInterest } from "../../schema/market/user-interest.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../schema/paging.ts"
import { column } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

export const interestList = pagedList("interests", {
  created_at: ["time", "text"],
  updated_at: ["time", "text"],
  emoji_id: ["text"],
})

/** The interest that was added or removed. */
export type InterestOutcome = WriteOutcome<UserInterest, undefined>

const maxInterestsPerUser = 1000

/** The interests of users in ids. A user with an interest is notified when the id becomes free. */
export class Interests extends Context.Service<
  Interests,
  {
    list(
      userId: string,
      page: PageRequest<keyof typeof interestList.sorts>,
    ): Effect.Effect<CountedPage<UserInterest>, Unavailable>
    get(userId: string, canonical: string): Effect.Effect<UserInterest, NotFound | Unavailable>
    /**
     * Adds an interest. Fails if the user already has an interest in the emoji id, owns it, or has too many interests.
     */
    add(
      userId: string,
      canonical: string,
    ): Effect.Effect<Written<InterestOutcome>, Unprocessable | Unavailable>
    remove(userId: string, canonical: string): Effect.Effect<Written<InterestOutcome>, NotFound | Unavailable>
  }
>()("directory/Interests") {
  static readonly layer = Layer.effect(
    Interests,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const notFound = () => new NotFound({ error: "You have not registered interest in this emoji id." })

      return Interests.of({
        list: (userId, page) =>
          pages.readCounted<UserInterest>(
            page,
            interestList.sorts[page.sort],
            ["interests", userId],
            (q) => ({
              ranges: [q`user_interest where user_id = ${userId}`],
              // A user has one interest in an id, so the id identifies it.
              keys: page.sort === "emoji_id" ? [q`canonical`] : [column(q, page.sort), q`canonical`],
              item: q`select id, user_id, canonical as emoji_id, created_at, updated_at from user_interest
                     where user_id = ${userId} and canonical = ${page.sort === "emoji_id" ? q`p.k0` : q`p.k1`}`,
            }),
          ),
        get: Effect.fnUntraced(function* (userId, canonical) {
          const [row] = yield* sql.rows<UserInterest>(
            (q) => q`select id, user_id, canonical as emoji_id, created_at, updated_at from user_interest
                      where user_id = ${userId} and canonical = ${canonical}`,
          )
          return row ?? (yield* notFound())
        }),
        add: Effect.fnUntraced(function* (userId, canonical) {
          // The new id distinguishes the added interest from one that the user already had.
          const id = randomUUID()
          const added = yield* sql.write.rows<UserInterest>(
            (q) => q`select id, user_id, canonical as emoji_id, created_at, updated_at
                       from add_interest(${id}, ${userId}, ${canonical}, ${maxInterestsPerUser})`,
            { when: (q) => q`effect.id = ${id}` },
          )
          const [row] = added.outcome.rows
          if (row?.id === id) return added
          if (row !== undefined) {
            return yield* new Unprocessable({
              error: "You have already registered interest in this emoji id.",
              fields: { emoji_id: [{ code: "uniqueness", message: "already registered" }] },
            })
          }
          const message = `You already own this emoji id, or you already have ${maxInterestsPerUser} registered interests.`
          return yield* new Unprocessable({
            error: `You cannot register interest in this emoji id. ${message}`,
            fields: { emoji_id: [{ code: "eligibility", message }] },
          })
        }),
        remove: Effect.fnUntraced(function* (userId, canonical) {
          const removed = yield* sql.write.rows<UserInterest>(
            (q) => q`delete from user_interest where user_id = ${userId} and canonical = ${canonical}
                     returning id, user_id, canonical as emoji_id, created_at, updated_at`,
          )
          return removed.outcome.rows.length > 0 ? removed : yield* notFound()
        }),
      })
    }),
  )
}
