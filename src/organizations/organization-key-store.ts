import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { Conflict, NotFound, type Unavailable } from "../../schema/errors.ts"
import { arrayList, type Page, type PageRequest } from "../../schema/paging.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

/** The list of the keys of an organization, oldest first. */
export const organizationKeyList = arrayList("organization_keys", "Asc", ["time", "text"], 1000)

type WrittenKey = Written<WriteOutcome<{ readonly pubkey: string }, undefined>>

/**
 * The public keys of users that are assigned to organizations. Members with the role OrgOwner or OrgController can list
 * and edit the ids that are bound to the keys of their organization.
 */
export class OrganizationKeys extends Context.Service<
  OrganizationKeys,
  {
    list(organizationId: string, page: PageRequest): Effect.Effect<Page<string>, Unavailable>
    /** Assigns a key to an organization. Succeeds if the key is already assigned to it. */
    assign(
      organizationId: string,
      pubkey: string,
    ): Effect.Effect<WrittenKey, NotFound | Conflict | Unavailable>
    /** Removes a key from an organization. The key still belongs to its user. */
    unassign(organizationId: string, pubkey: string): Effect.Effect<WrittenKey, NotFound | Unavailable>
  }
>()("directory/OrganizationKeys") {
  static readonly layer = Layer.effect(
    OrganizationKeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      return OrganizationKeys.of({
        list: (organizationId, page) =>
          Effect.map(
            pages.read<{ pubkey: string }>(page, organizationKeyList.sorts.only, (q) => ({
              ranges: [q`pubkey where organization_id = ${organizationId}`],
              keys: [q`created_at`, q`pubkey`],
              item: q`select p.k1 as pubkey`,
            })),
            (found) => ({ ...found, rows: found.rows.map(({ pubkey }) => pubkey) }),
          ),
        assign: Effect.fnUntraced(function* (organizationId, pubkey) {
          const assigned = yield* sql.write
            .attempt<{ pubkey: string; is_assigned: boolean }>(
              (q) => q`update pubkey set organization_id = coalesce(organization_id, ${organizationId})
                        where pubkey = ${pubkey}
                       returning pubkey, organization_id = ${organizationId} as is_assigned`,
              { when: (q) => q`effect.is_assigned` },
            )
            .pipe(
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "23503"
                  ? Effect.fail(new NotFound({ error: "Organization not found. Check the id." }))
                  : Effect.die(refused),
              ),
            )
          const [key] = assigned.outcome.rows
          if (key === undefined)
            return yield* new NotFound({ error: "Public key not found. A user must add it first." })
          if (!key.is_assigned)
            return yield* new Conflict({
              error: "This key is assigned to another organization. Remove it there first.",
            })
          return assigned
        }),
        unassign: Effect.fnUntraced(function* (organizationId, pubkey) {
          const unassigned = yield* sql.write.rows<{ pubkey: string }>(
            (q) => q`update pubkey set organization_id = null
                      where pubkey = ${pubkey} and organization_id = ${organizationId} returning pubkey`,
          )
          return unassigned.outcome.rows.length > 0
            ? unassigned
            : yield* new NotFound({ error: "This key is not assigned to this organization." })
        }),
      })
    }),
  )
}
