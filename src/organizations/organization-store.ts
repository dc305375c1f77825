import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import {
  Conflict,
  fieldFault,
  type InvalidRequest,
  type NotFound,
  type Unavailable,
  Unprocessable,
} from "../../schema/errors.ts"
import type {
  NewOrganization,
  Organization,
  OrganizationBranding,
  OrganizationFees,
  UpdateOrganization,
  UpdateOrganizationBranding,
} from "../../schema/organizations/organization.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../schema/paging.ts"
import { Bus } from "../cluster/bus.ts"
import { userTopic } from "../cluster/topic-names.ts"
import { type Client, column, type SqlPiece } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import { invalidatePossiblyEnded, invalidateRecentlyEnded } from "../sign-in/oauth/oauth-client-store.ts"
import { type LinkChange, makeReturnLinks, organizationNotFound } from "./return-link-store.ts"
import { type ViewOutcome, viewOf, type WrittenView } from "./written-view.ts"

export const organizationList = pagedList("organizations", {
  created_at: ["time", "uuid"],
  updated_at: ["time", "uuid"],
  name: ["text", "uuid"],
})

/** The organization of a partner page: its branding, and the fees that a checkout on the page records. */
export type PartnerOrganization = OrganizationBranding & { readonly fees: OrganizationFees }

/** A deleted organization, and the users whose memberships or connections have ended. */
type RemovedOutcome = WriteOutcome<
  { readonly view: Organization; readonly user_ids: ReadonlyArray<string> },
  undefined
>

const explainRefusal = (refused: SqlRefused) => {
  if (refused.sqlstate === "23505")
    return Effect.fail(
      new Unprocessable({
        error: "partner_path is already used by another organization. Choose another one.",
        fields: { partner_path: [{ code: "uniqueness", message: "already in use" }] },
      }),
    )
  if (refused.constraint === "organization_fees")
    return Effect.fail(
      fieldFault(
        "company_fee_basis_points",
        "range",
        "client_fee_basis_points and company_fee_basis_points together must be at most 10000 (100 percent).",
      ),
    )
  return Effect.die(refused)
}

/** Organizations, their partner paths and their branding. */
export class Organizations extends Context.Service<
  Organizations,
  {
    /** Creates an organization with this id, or with a new one. */
    create(
      facts: NewOrganization,
      id?: string,
    ): Effect.Effect<WrittenView<Organization>, InvalidRequest | Unprocessable | Unavailable>
    get(id: string): Effect.Effect<Organization, NotFound | Unavailable>
    /**
     * Lists the organizations that `memberId` is a member of, or all organizations if `memberId` is undefined. Fails if
     * the user is a member of too many organizations to sort them.
     */
    list(
      memberId: string | undefined,
      page: PageRequest<keyof typeof organizationList.sorts>,
    ): Effect.Effect<CountedPage<Organization>, InvalidRequest | Unavailable>
    /** If `changes` has another return link, the owners of the organization get a mail. */
    update(
      id: string,
      changes: UpdateOrganization,
    ): Effect.Effect<
      WrittenView<Organization, LinkChange | null>,
      InvalidRequest | NotFound | Unprocessable | Unavailable
    >
    /**
     * Deletes an organization, and ends its memberships and the tokens of its OAuth clients. Fails with Conflict
     * while keys or active codes belong to the organization.
     */
    remove(id: string): Effect.Effect<Written<RemovedOutcome>, NotFound | Conflict | Unavailable>
    /** Drops the users from the caches again, and returns the deleted organization. */
    removed(outcome: RemovedOutcome): Effect.Effect<Organization, Unavailable>
    branding(id: string): Effect.Effect<OrganizationBranding, NotFound | Unavailable>
    /** If `branding` has another return link, the owners of the organization get a mail. */
    setBranding(
      id: string,
      branding: UpdateOrganizationBranding,
    ): Effect.Effect<
      WrittenView<OrganizationBranding, LinkChange | null>,
      InvalidRequest | NotFound | Unavailable
    >
    /** Records a changed return link in the security logs of the owners, and returns what was changed. */
    changed<A>(outcome: ViewOutcome<A, LinkChange | null>): Effect.Effect<A>
    /**
     * Finds the organization with this partner path, for the partner's web pages. The result is public, except the fees.
     * Undefined if no organization has this path.
     */
    findByPartnerPath(path: string): Effect.Effect<PartnerOrganization | undefined, Unavailable>
  }
>()("directory/Organizations") {
  static readonly layer = Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const bus = yield* Bus
      const links = yield* makeReturnLinks
      const firstView = <A>(rows: ReadonlyArray<{ readonly view: A }>) =>
        rows[0] === undefined ? Effect.fail(organizationNotFound()) : Effect.succeed(rows[0].view)

      return Organizations.of({
        create: Effect.fnUntraced(function* (facts, id = randomUUID()) {
          const { name, partner_path, return_link } = facts
          if (return_link != null) yield* links.check(return_link)
          return yield* sql.write
            .attempt<{ view: Organization }>(
              (
                q,
              ) => q`insert into organization as o (id, name, partner_path, return_link, client_fee_basis_points,
                                                    company_fee_basis_points)
                     values (${id}, ${name}, ${partner_path ?? null}, ${return_link ?? null},
                             ${facts.client_fee_basis_points ?? 0}, ${facts.company_fee_basis_points ?? 0})
                     on conflict (id) do update set id = excluded.id returning display_organization(o) as view`,
            )
            .pipe(Effect.catchTag("SqlRefused", explainRefusal))
        }),
        get: Effect.fnUntraced(function* (id) {
          return yield* firstView(
            yield* sql.rows<{ view: Organization }>(
              (q) => q`select display_organization(o) as view from organization o where id = ${id}`,
            ),
          )
        }),
        list: (memberId, page) => {
          const types = organizationList.sorts[page.sort]
          const list = (q: Client) => ({
            keys: [column(q, page.sort), q`id`],
            item: q`select display_organization(o) as view from organization o where o.id = p.k1`,
          })
          const tooMany =
            "You are a member of more than 10,000 organizations. Only with the scope organization:read they can be listed."
          const found =
            memberId === undefined
              ? pages.readCounted<{ view: Organization }>(page, types, ["organizations"], (q) => ({
                  ...list(q),
                  ranges: [q`organization where true`],
                }))
              : pages.readFound<{ view: Organization }>(page, types, tooMany, (q) => ({
                  ...list(q),
                  matching: q`select o.* from organization_member m join organization o on o.id = m.organization_id
                               where m.user_id = ${memberId}`,
                }))
          return Effect.map(found, (one) => ({ ...one, rows: one.rows.map(({ view }) => view) }))
        },
        update: Effect.fnUntraced(function* (id, changes) {
          const { client_fee_basis_points, company_fee_basis_points, name, partner_path, return_link } =
            changes
          const write = (q: Client, isCurrent: SqlPiece, mailed: SqlPiece) => q`
            update organization o
               set name = coalesce(${name ?? null}, name), partner_path = coalesce(${partner_path ?? null}, partner_path),
                   return_link = coalesce(${return_link ?? null}, return_link),
                   client_fee_basis_points = coalesce(${client_fee_basis_points ?? null}, client_fee_basis_points),
                   company_fee_basis_points = coalesce(${company_fee_basis_points ?? null}, company_fee_basis_points),
                   updated_at = now()
             where id = ${id} and ${isCurrent} returning display_organization(o) as view, ${mailed}`
          return yield* links
            .change<Organization>(id, return_link ?? null, write)
            .pipe(Effect.catchTag("SqlRefused", explainRefusal))
        }),
        remove: Effect.fnUntraced(function* (id) {
          const found = yield* sql.rows<{ id: string }>(
            (q) => q`
              select g.user_id::text as id from oauth_grant g join oauth_client c using (client_id)
               where c.organization_id = ${id} and g.revoked_at is null
              union select user_id::text from organization_member where organization_id = ${id}`,
          )
          const known = found.map((user) => user.id)
          const removed = yield* sql.write
            .attempt<RemovedOutcome["rows"][number]>(
              (q) => q`select view, user_ids from remove_organization(${id})`,
            )
            .pipe(
              bus.invalidating({ [userTopic]: known }),
              Effect.tapError(({ _tag }) =>
                _tag === "Unavailable" ? invalidatePossiblyEnded(sql, bus) : Effect.void,
              ),
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "23503"
                  ? Effect.fail(
                      new Conflict({
                        error:
                          "This organization still has keys or codes. Remove its keys and delete its codes first.",
                      }),
                    )
                  : Effect.die(refused),
              ),
            )
          if (removed.outcome.rows.length === 0)
            return yield* Effect.andThen(invalidateRecentlyEnded(sql, bus), organizationNotFound())
          return removed
        }),
        // Some users may have joined or connected a client after their ids were read before the statement.
        removed: (outcome) =>
          Effect.as(bus.invalidate(userTopic, outcome.rows[0]!.user_ids), viewOf(outcome)),
        branding: Effect.fnUntraced(function* (id) {
          return yield* firstView(
            yield* sql.rows<{ view: OrganizationBranding }>(
              (q) => q`select display_branding(o) as view from organization o where id = ${id}`,
            ),
          )
        }),
        setBranding: Effect.fnUntraced(function* (id, { return_link, ...rest }) {
          const stored = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ""))
          const write = (q: Client, isCurrent: SqlPiece, mailed: SqlPiece) => q`
            update organization o
               set branding = ${JSON.stringify(stored)}::text::jsonb,
                   return_link = coalesce(${return_link ?? null}, return_link), updated_at = now()
             where id = ${id} and ${isCurrent} returning display_branding(o) as view, ${mailed}`
          return yield* links
            .change<OrganizationBranding>(id, return_link ?? null, write)
            .pipe(Effect.catchTag("SqlRefused", Effect.die))
        }),
        changed: (outcome) =>
          Effect.as(outcome.keep === null ? Effect.void : links.changed(outcome.keep), viewOf(outcome)),
        findByPartnerPath: (path) =>
          sql
            .rows<{ view: PartnerOrganization }>(
              (q) => q`select display_branding(o) || jsonb_build_object('fees', jsonb_build_object(
                                'clientBasisPoints', o.client_fee_basis_points,
                                'companyBasisPoints', o.company_fee_basis_points)) as view
                         from organization o where partner_path = ${path}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.view)),
      })
    }),
  )
}
