import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { readEmail } from "../../schema/accounts/account.ts"
import { Conflict, NotFound } from "../../schema/errors.ts"
import { OrganizationMember, SetOrganizationMember } from "../../schema/organizations/organization.ts"
import { arrayQuery, pageRequest } from "../../schema/paging.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { checkInOrganization } from "../accounts/permissions.ts"
import { linked } from "../http/response/page-links.ts"
import { inOrganization, route } from "../http/route.ts"
import { Members, memberList } from "./member-store.ts"
import { Organizations } from "./organization-store.ts"

const byId = { id: Uuid }
const byMember = { id: Uuid, user_id: Uuid }

const list = route({
  id: "listMembers",
  group: "organizations",
  summary: "List the members of an organization",
  description:
    "Each member has a role: OrgMember, OrgController or OrgOwner. At most 1,000 are on a page; further pages are linked in the header `Link`.",
  method: "get",
  path: "/organizations/:id/members",
  auth: "JWT",
  access: inOrganization("organizationUser:read"),
  params: byId,
  query: arrayQuery(memberList),
  success: Schema.Array(OrganizationMember),
  errors: [NotFound],
  handler: ({ params, path, principal, query, search }) =>
    Effect.gen(function* () {
      yield* checkInOrganization(principal, params.id, "organizationUser:read")
      yield* Organizations.use((organizations) => organizations.get(params.id))
      const page = yield* pageRequest(memberList, query)
      const found = yield* Members.use((members) => members.list(params.id, page))
      return linked(memberList, page, found, found.rows, { path, search })
    }),
})

const put = route({
  id: "putMember",
  group: "organizations",
  summary: "Add a member or change their role",
  description:
    "Owners must also send the confirmed email address of a new member: the user id is not enough. Taking the role from the last owner returns 409.",
  method: "put",
  path: "/organizations/:id/members/:user_id",
  auth: "JWT",
  access: inOrganization("organizationUser:admin"),
  limit: "write",
  params: byMember,
  body: SetOrganizationMember,
  success: OrganizationMember,
  errors: [NotFound, Conflict],
  handler: Effect.fnUntraced(function* ({ body, params, principal }) {
    const members = yield* Members
    const change = Effect.gen(function* () {
      yield* checkInOrganization(principal, params.id, "organizationUser:admin")
      const isAdmin = principal.scopes.has("organizationUser:admin")
      // The response contains personal data, so an owner must already know the email address of a new member.
      const email = readEmail(body.email ?? "")
      if (!isAdmin && !(yield* members.isKnown(params.id, params.user_id, email))) {
        return yield* new NotFound({
          error:
            "No user has this user_id and this confirmed email. Send the email that the user has confirmed.",
        })
      }
      return yield* members.put(params.id, params.user_id, body.role, isAdmin)
    })
    const changed = yield* atMostOnce(change)
    yield* members.changed(changed)
    return changed.rows[0]!.view!
  }),
})

const remove = route({
  id: "removeMember",
  group: "organizations",
  summary: "Remove a member from an organization. Every member can remove themselves",
  description:
    "Every member can remove themselves with a sign-in session. The last owner cannot be removed: 409.",
  method: "del",
  path: "/organizations/:id/members/:user_id",
  auth: "JWT",
  access: { own: "session", ...inOrganization("organizationUser:admin") },
  limit: "write",
  params: byMember,
  success: Schema.Struct({ removed: Uuid }),
  errors: [NotFound, Conflict],
  handler: Effect.fnUntraced(function* ({ params, principal }) {
    const members = yield* Members
    const remove = Effect.gen(function* () {
      if (principal.via !== "session" || params.user_id.toLowerCase() !== principal.userId) {
        yield* checkInOrganization(principal, params.id, "organizationUser:admin")
      }
      const allowNoOwner = principal.scopes.has("organizationUser:admin")
      return yield* members.remove(params.id, params.user_id, allowNoOwner)
    })
    yield* members.changed(yield* atMostOnce(remove))
    return { removed: params.user_id }
  }),
})

export const members = [list, put, remove] as const
