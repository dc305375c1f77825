import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Conflict, NotFound, TwoFactorRequired, Unprocessable } from "../../schema/errors.ts"
import {
  ListOfOrganization,
  NewOrganization,
  Organization,
  OrganizationBranding,
  UpdateOrganization,
  UpdateOrganizationBranding,
} from "../../schema/organizations/organization.ts"
import { paged, pageQuery, pageRequest } from "../../schema/paging.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { checkInOrganization, checkScope } from "../accounts/permissions.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { checkRecentCode } from "../accounts/sessions/recent-code.ts"
import { inOrganization, route } from "../http/route.ts"
import { Organizations, organizationList } from "./organization-store.ts"
import { permitLinkChange } from "./return-link.ts"
import { viewOf } from "./written-view.ts"

const byId = { id: Uuid }

const create = route({
  id: "createOrganization",
  group: "organizations",
  summary: "Create an organization",
  description:
    "For the operator. An organization is a partner with members, keys, branding and codes. `partner_path` is its place in the URLs of the partner flows; one that is taken is 422 `uniqueness`.",
  method: "post",
  path: "/organizations",
  auth: "JWT",
  scope: "organization:admin",
  limit: "write",
  body: NewOrganization,
  success: Organization,
  errors: [Unprocessable],
  handler: ({ body }) =>
    Effect.map(atMostOnce(Organizations.use((organizations) => organizations.create(body))), viewOf),
})

const list = route({
  id: "listOrganizations",
  group: "organizations",
  summary: "List organizations",
  description: "Those in which you have a role. With the scope organization:read: all organizations.",
  method: "get",
  path: "/organizations",
  auth: "JWT",
  scope: "organizationList:read",
  query: pageQuery(organizationList),
  success: ListOfOrganization,
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(organizationList, query)
      const memberId = principal.scopes.has("organization:read") ? undefined : principal.userId
      const found = yield* Organizations.use((organizations) => organizations.list(memberId, page))
      return paged(organizationList, page, found, found.rows)
    }),
})

const show = route({
  id: "showOrganization",
  group: "organizations",
  summary: "Show an organization",
  description: "For its members and for administrators.",
  method: "get",
  path: "/organizations/:id",
  auth: "JWT",
  access: inOrganization("organization:read"),
  params: byId,
  success: Organization,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    checkInOrganization(principal, params.id, "organization:read").pipe(
      Effect.andThen(Organizations.use((organizations) => organizations.get(params.id))),
    ),
})

const update = route({
  id: "updateOrganization",
  group: "organizations",
  summary: "Change an organization",
  description:
    "Another `partner_path`, `return_link` or fee requires organization:admin of the operator, and another `return_link` or fee a recent two-factor code. The owners get a mail about a changed `return_link`.",
  method: "patch",
  path: "/organizations/:id",
  auth: "JWT",
  access: inOrganization("organization:write"),
  limit: "write",
  params: byId,
  body: UpdateOrganization,
  success: Organization,
  errors: [NotFound, TwoFactorRequired, Unprocessable],
  handler: ({ body, params, principal }) =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { client_fee_basis_points, company_fee_basis_points } = body
      const hasFees = client_fee_basis_points != null || company_fee_basis_points != null
      const update = Effect.gen(function* () {
        yield* checkInOrganization(principal, params.id, "organization:write")
        if (body.partner_path != null) yield* checkScope(principal, "organization:admin")
        if (hasFees) {
          yield* checkScope(principal, "organization:admin")
          yield* checkRecentCode(principal)
        }
        const return_link = yield* permitLinkChange(principal, params.id, body.return_link)
        return yield* organizations.update(params.id, { ...body, return_link })
      })
      const changed = yield* organizations.changed(yield* atMostOnce(update))
      if (hasFees)
        yield* recordEvent({
          event: "organization.fees_changed",
          userId: principal.userId,
          details: {
            organization_id: changed.id,
            client_fee_basis_points: changed.client_fee_basis_points,
            company_fee_basis_points: changed.company_fee_basis_points,
          },
        })
      return changed
    }),
})

const remove = route({
  id: "deleteOrganization",
  group: "organizations",
  summary: "Delete an organization that has no keys and no active codes",
  description: "For the operator. An organization with keys or active codes is 409: remove those first.",
  method: "del",
  path: "/organizations/:id",
  auth: "JWT",
  scope: "organization:admin",
  limit: "write",
  params: byId,
  success: Organization,
  errors: [NotFound, Conflict],
  handler: ({ params }) =>
    Organizations.use((organizations) =>
      Effect.flatMap(atMostOnce(organizations.remove(params.id)), organizations.removed),
    ),
})

const branding = route({
  id: "getBranding",
  group: "organizations",
  summary: "Show the branding of an organization's web pages",
  description:
    "The name, logos and currencies that the partner flows show, and the link to which users return.",
  method: "get",
  path: "/organizations/:id/branding",
  auth: "JWT",
  access: inOrganization("organization:read"),
  params: byId,
  success: OrganizationBranding,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    checkInOrganization(principal, params.id, "organization:read").pipe(
      Effect.andThen(Organizations.use((organizations) => organizations.branding(params.id))),
    ),
})

const setBranding = route({
  id: "setBranding",
  group: "organizations",
  summary: "Set an organization's branding",
  description:
    "Replaces all of it; a logo that is left out is removed. Another `return_link`, to which users return with their refresh token, requires organization:admin of the operator and a recent two-factor code; the owners get a mail.",
  method: "put",
  path: "/organizations/:id/branding",
  auth: "JWT",
  access: inOrganization("organization:write"),
  limit: "write",
  params: byId,
  body: UpdateOrganizationBranding,
  success: OrganizationBranding,
  errors: [NotFound, TwoFactorRequired],
  handler: ({ body, params, principal }) =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const set = Effect.gen(function* () {
        yield* checkInOrganization(principal, params.id, "organization:write")
        const return_link = yield* permitLinkChange(principal, params.id, body.return_link)
        return yield* organizations.setBranding(params.id, { ...body, return_link })
      })
      return yield* organizations.changed(yield* atMostOnce(set))
    }),
})

export const organizations = [create, list, show, update, remove, branding, setBranding] as const
