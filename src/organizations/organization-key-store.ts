import { Context, Effect, Layer } from "effect"
import { Conflict, NotFound, type Unavailable } from "../../schema/errors.ts"
import type { Piece } from "../../schema/paging.ts"
import { Sql } from "../postgres/sql.ts"

export const maxKeysListed = 1000

/** Keys of users that belong to an organization: its power roles may list and write the ids bound to them. */
export class OrganizationKeys extends Context.Service<
  OrganizationKeys,
  {
    list(organizationId: string, piece: Piece): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Given twice it is given once. */
    give(organizationId: string, pubkey: string): Effect.Effect<void, NotFound | Conflict | Unavailable>
    /** It stays its user's key. */
    takeBack(organizationId: string, pubkey: string): Effect.Effect<void, NotFound | Unavailable>
  }
>()("directory/OrganizationKeys") {
  static readonly layer = Layer.effect(
    OrganizationKeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      return OrganizationKeys.of({
        list: (organizationId, { limit, offset }) =>
          sql
            .rows<{ pubkey: string }>(
              (q) => q`select pubkey from pubkey where organization_id = ${organizationId}
                        order by created_at, pubkey limit ${limit} offset ${offset}`,
            )
            .pipe(Effect.map((rows) => rows.map(({ pubkey }) => pubkey))),
        give: Effect.fnUntraced(function* (organizationId, pubkey) {
          const [key] = yield* sql
            .attempt<{ is_given: boolean }>(
              (q) => q`update pubkey set organization_id = coalesce(organization_id, ${organizationId})
                        where pubkey = ${pubkey} returning organization_id = ${organizationId} as is_given`,
            )
            .pipe(
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "23503"
                  ? Effect.fail(new NotFound({ error: "There is no such organization." }))
                  : Effect.die(refused),
              ),
            )
          if (key === undefined) return yield* new NotFound({ error: "Nobody here has this key." })
          if (!key.is_given) return yield* new Conflict({ error: "The key belongs to another organization." })
        }),
        takeBack: Effect.fnUntraced(function* (organizationId, pubkey) {
          const rows = yield* sql.rows(
            (q) => q`update pubkey set organization_id = null
                      where pubkey = ${pubkey} and organization_id = ${organizationId} returning 1`,
          )
          if (rows.length === 0) {
            return yield* new NotFound({ error: "The key does not belong to this organization." })
          }
        }),
      })
    }),
  )
}
