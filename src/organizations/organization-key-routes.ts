import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Conflict, NotFound } from "../../schema/errors.ts"
import { arrayQuery, pageRequest } from "../../schema/paging.ts"
import { text, Uuid } from "../../schema/wire-format.ts"
import { checkInOrganization } from "../accounts/permissions.ts"
import { linked } from "../http/response/page-links.ts"
import { inOrganization, route } from "../http/route.ts"
import { OrganizationKeys, organizationKeyList } from "./organization-key-store.ts"
import { Organizations } from "./organization-store.ts"

const shared = { group: "organizations", auth: "JWT" } as const
const byKey = { id: Uuid, pubkey: text(128) }

const list = route({
  ...shared,
  id: "listOrganizationPubkeys",
  summary: "List the public keys of an organization",
  description:
    "Oldest first, at most 1,000 per page. The ids of these keys are those that power roles can list and edit.",
  method: "get",
  path: "/organizations/:id/pubkeys",
  access: inOrganization("organizationEmoji:list"),
  params: { id: Uuid },
  query: arrayQuery(organizationKeyList),
  success: Schema.Array(Schema.String),
  errors: [NotFound],
  handler: ({ params, path, principal, query, search }) =>
    Effect.gen(function* () {
      yield* checkInOrganization(principal, params.id, "organizationEmoji:list")
      yield* Organizations.use((organizations) => organizations.get(params.id))
      const page = yield* pageRequest(organizationKeyList, query)
      const found = yield* OrganizationKeys.use((keys) => keys.list(params.id, page))
      return linked(organizationKeyList, page, found, found.rows, { path, search })
    }),
})

const assign = route({
  ...shared,
  id: "giveOrganizationPubkey",
  summary: "Assign a user's public key to an organization",
  description:
    "For the operator. The power roles of the organization can then list and edit the ids of the key. The user stays their owner.",
  method: "put",
  path: "/organizations/:id/pubkeys/:pubkey",
  scope: "organization:admin",
  sensitive: true,
  limit: "write",
  params: byKey,
  success: Schema.String,
  errors: [NotFound, Conflict],
  handler: ({ params }) => {
    const pubkey = params.pubkey.toLowerCase()
    return Effect.as(atMostOnce(OrganizationKeys.use((keys) => keys.assign(params.id, pubkey))), pubkey)
  },
})

const unassign = route({
  ...shared,
  id: "takeOrganizationPubkey",
  summary: "Remove a public key from an organization",
  description:
    "For the operator. The key and its ids stay with the user, and the organization loses access at once.",
  method: "del",
  path: "/organizations/:id/pubkeys/:pubkey",
  scope: "organization:admin",
  limit: "write",
  params: byKey,
  success: Schema.String,
  errors: [NotFound],
  handler: ({ params }) => {
    const pubkey = params.pubkey.toLowerCase()
    return Effect.as(atMostOnce(OrganizationKeys.use((keys) => keys.unassign(params.id, pubkey))), pubkey)
  },
})

export const organizationKeys = [list, assign, unassign] as const
