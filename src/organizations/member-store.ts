import { Context, Effect, Layer } from "effect"
import { Conflict, NotFound, type Unavailable } from "../../schema/errors.ts"
import type { OrganizationMember, OrganizationRole } from "../../schema/organizations/organization.ts"
import type { Piece } from "../../schema/paging.ts"
import { CallerCache } from "../accounts/caller-cache.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import { Sql } from "../postgres/sql.ts"

type Outcome = "done" | "no_organization" | "no_user" | "no_member" | "last_owner"

export const maxMembersListed = 1000
const firstPage: Piece = { limit: maxMembersListed, offset: 0 }

/** The members of organizations and their roles. */
export class Members extends Context.Service<
  Members,
  {
    list(organizationId: string, piece?: Piece): Effect.Effect<ReadonlyArray<OrganizationMember>, Unavailable>
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
    ): Effect.Effect<OrganizationMember, NotFound | Conflict | Unavailable>
    remove(
      organizationId: string,
      userId: string,
      allowNoOwner: boolean,
    ): Effect.Effect<void, NotFound | Conflict | Unavailable>
  }
>()("directory/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* Sql
      const callers = yield* CallerCache
      const securityLog = yield* SecurityLog

      const rows = (organizationId: string, userId: string | null, { limit, offset } = firstPage) =>
        sql.rows<{ view: OrganizationMember }>(
          (q) => q`
            select jsonb_strip_nulls(jsonb_build_object('user_id', m.user_id, 'role', m.role, 'email', u.email,
                     'first_name', u.first_name, 'last_name', u.last_name, 'created_at', wire_time(m.created_at))) as view
              from organization_member m join app_user u on u.id = m.user_id
             where m.organization_id = ${organizationId} and coalesce(m.user_id = ${userId}::uuid, true)
             order by m.created_at, m.user_id limit ${limit} offset ${offset}`,
        )

      const set = Effect.fnUntraced(function* (
        organizationId: string,
        userId: string,
        role: OrganizationRole | null,
        allowNoOwner: boolean,
      ) {
        const [row] = yield* sql
          .rows<{ outcome: Outcome }>(
            (q) => q`select set_member(${organizationId}, ${userId}, ${role}, ${allowNoOwner}) as outcome`,
          )
          .pipe(callers.invalidating(userId))
        switch (row!.outcome) {
          case "done":
            return yield* securityLog.record({
              event: role === null ? "organization.left" : "organization.role_changed",
              userId,
              details: { organization_id: organizationId, role },
            })
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
        list: (organizationId, piece) =>
          rows(organizationId, null, piece).pipe(Effect.map((found) => found.map(({ view }) => view))),
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
        put: Effect.fnUntraced(function* (organizationId, userId, role, allowNoOwner) {
          yield* set(organizationId, userId.toLowerCase(), role, allowNoOwner)
          const [row] = yield* rows(organizationId, userId)
          return (
            row?.view ??
            (yield* new NotFound({
              error: "The user was removed from the organization at the same time. Try again.",
            }))
          )
        }),
        remove: (organizationId, userId, allowNoOwner) =>
          set(organizationId, userId.toLowerCase(), null, allowNoOwner),
      })
    }),
  )
}
