import { Effect, Schema } from "effect"
import { Conflict, NotFound } from "../../schema/errors.ts"
import { pieceOf, pieceQuery } from "../../schema/paging.ts"
import { text, Uuid } from "../../schema/wire-format.ts"
import { checkInOrganization } from "../accounts/permissions.ts"
import { route } from "../http/route.ts"
import { maxKeysListed, OrganizationKeys } from "./organization-key-store.ts"
import { Organizations } from "./organization-store.ts"

const shared = { group: "organizations", auth: "JWT" } as const
const byKey = { id: Uuid, pubkey: text(128) }

const list = route({
  ...shared,
  id: "listOrganizationPubkeys",
  summary: "The keys that belong to an organization, oldest first, a thousand to a page",
  method: "get",
  path: "/organizations/:id/pubkeys",
  params: { id: Uuid },
  query: pieceQuery(maxKeysListed),
  success: Schema.Array(Schema.String),
  errors: [NotFound],
  handler: ({ params, principal, query }) =>
    checkInOrganization(principal, params.id, "organizationEmoji:list").pipe(
      Effect.andThen(Organizations.use((organizations) => organizations.get(params.id))),
      Effect.andThen(OrganizationKeys.use((keys) => keys.list(params.id, pieceOf(query, maxKeysListed)))),
    ),
})

const give = route({
  ...shared,
  id: "giveOrganizationPubkey",
  summary:
    "Let a user's key belong to an organization too: its power roles may list and write the ids bound to it",
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
    return OrganizationKeys.use((keys) => Effect.as(keys.give(params.id, pubkey), pubkey))
  },
})

const takeBack = route({
  ...shared,
  id: "takeOrganizationPubkey",
  summary: "Let a key belong to its user only",
  method: "del",
  path: "/organizations/:id/pubkeys/:pubkey",
  scope: "organization:admin",
  limit: "write",
  params: byKey,
  success: Schema.String,
  errors: [NotFound],
  handler: ({ params }) => {
    const pubkey = params.pubkey.toLowerCase()
    return OrganizationKeys.use((keys) => Effect.as(keys.takeBack(params.id, pubkey), pubkey))
  },
})

export const organizationKeys = [list, give, takeBack] as const
