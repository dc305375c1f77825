import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { Conflict, NotFound, type Unavailable } from "../../schema/errors.ts"
import type { OrganizationMember, OrganizationRole } from "../../schema/organizations/organization.ts"
import { arrayList, type Page, type PageRequest } from "../../schema/paging.ts"
import { CallerCache } from "../accounts/caller-cache.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

interface MemberRow {
  readonly outcome: "done" | "no_organization" | "no_user" | "no_member" | "last_owner"
  /** The member. Null if the member was removed, or if nothing was changed. */
  readonly view: OrganizationMember | null
}

/** A changed member. The role is null if the member was removed. */
export type MemberOutcome = WriteOutcome<
  MemberRow,
  { readonly organizationId: string; readonly userId: string; readonly role: OrganizationRole | null }
>

/** The list of the members of an organization, oldest first. */
export const memberList = arrayList("members", "Asc", ["time", "uuid"], 1000)
const firstPage: PageRequest = { dir: "Asc", limit: memberList.most, page: 0, sort: "only" }

/** The members of organizations and their roles. */
export class Members extends Context.Service<
  Members,
  {
    list(organizationId: string, page?: PageRequest): Effect.Effect<Page<OrganizationMember>, Unavailable>
    /** Whether the user is already a member, or has this confirmed email. */
    isKnown(
      organizationId: string,
      userId: string,
      email: string | undefined,
    ): Effect.Effect<boolean, Unavailable>
    /**
     * Adds the user as a member, or changes the role of a member. Fails with Conflict if the organization would then
     * have no owner and `allowNoOwner` is false.
     */
    put(
      organizationId: string,
      userId: string,
      role: OrganizationRole,
      allowNoOwner: boolean,
    ): Effect.Effect<Written<MemberOutcome>, NotFound | Conflict | Unavailable>
    remove(
      organizationId: string,
      userId: string,
      allowNoOwner: boolean,
    ): Effect.Effect<Written<MemberOutcome>, NotFound | Conflict | Unavailable>
    /** Records the changed member in the security log. */
    changed(outcome: MemberOutcome): Effect.Effect<void>
  }
>()("directory/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const callers = yield* CallerCache
      const securityLog = yield* SecurityLog

      const set = Effect.fnUntraced(function* (
        organizationId: string,
        userId: string,
        role: OrganizationRole | null,
        allowNoOwner: boolean,
      ) {
        const set = yield* sql.write
          .rows<MemberRow, MemberOutcome["keep"]>(
            (q) => q`select * from put_member(${organizationId}, ${userId}, ${role}, ${allowNoOwner})`,
            { keep: { organizationId, userId, role }, when: (q) => q`effect.outcome = 'done'` },
          )
          .pipe(callers.invalidating(userId))
        switch (set.outcome.rows[0]!.outcome) {
          case "done":
            return set
          case "last_owner":
            return yield* new Conflict({
              error: "An organization must have an owner. Make another member an owner first.",
            })
          case "no_organization":
            return yield* new NotFound({ error: "Organization not found. Check the id." })
          case "no_user":
            return yield* new NotFound({ error: "User not found. Check the user_id." })
          case "no_member":
            return yield* new NotFound({ error: "The user is not a member of this organization." })
        }
      })

      return Members.of({
        list: (organizationId, page = firstPage) =>
          Effect.map(
            pages.read<{ view: OrganizationMember }>(page, memberList.sorts.only, (q) => ({
              ranges: [q`organization_member where organization_id = ${organizationId}`],
              keys: [q`created_at`, q`user_id`],
              item: q`select display_member(m, u) as view
                        from organization_member m join app_user u on u.id = m.user_id
                       where m.organization_id = ${organizationId} and m.user_id = p.k1`,
            })),
            (found) => ({ ...found, rows: found.rows.map(({ view }) => view) }),
          ),
        isKnown: (organizationId, userId, email) =>
          sql
            .rows(
              (
                q,
              ) => q`select 1 from organization_member where organization_id = ${organizationId} and user_id = ${userId}
                       union all
                       select 1 from app_user where id = ${userId} and email = ${email ?? null} and email_verified_at is not null`,
            )
            .pipe(Effect.map((rows) => rows.length > 0)),
        put: (organizationId, userId, role, allowNoOwner) =>
          set(organizationId, userId.toLowerCase(), role, allowNoOwner),
        remove: (organizationId, userId, allowNoOwner) =>
          set(organizationId, userId.toLowerCase(), null, allowNoOwner),
        changed: ({ keep: { organizationId, role, userId } }) =>
          securityLog.record({
            event: role === null ? "organization.left" : "organization.role_changed",
            userId,
            details: { organization_id: organizationId, role },
          }),
      })
    }),
  )
}
