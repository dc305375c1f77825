import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { NotFound, Unprocessable } from "../../../schema/errors.ts"
import { arrayQuery, pageRequest } from "../../../schema/paging.ts"
import {
  NewOauthClient,
  OauthClient,
  OauthClientWithSecret,
  UpdateOauthClient,
} from "../../../schema/sign-in/oauth-client.ts"
import { text } from "../../../schema/wire-format.ts"
import { linked } from "../../http/response/page-links.ts"
import { route } from "../../http/route.ts"
import { clientList, clientOf, clientWithSecret, OauthClients } from "./oauth-client-store.ts"

const byId = { client_id: text(64) }
const shared = { group: "oauth clients", auth: "JWT", scope: "organization:admin" } as const

const create = route({
  ...shared,
  id: "createOauthClient",
  summary: "Register an OAuth client",
  description:
    "For the operator. `redirect_uris` are compared exactly. The response is the only one that contains the secret.",
  method: "post",
  path: "/oauth_clients",
  sensitive: true,
  limit: "write",
  body: NewOauthClient,
  success: OauthClientWithSecret,
  errors: [Unprocessable],
  handler: ({ body }) =>
    Effect.map(atMostOnce(OauthClients.use((clients) => clients.create(body))), clientWithSecret),
})

const list = route({
  ...shared,
  id: "listOauthClients",
  summary: "List OAuth clients",
  description: "For the operator, without the secrets. At most 1,000 are on a page.",
  method: "get",
  path: "/oauth_clients",
  query: arrayQuery(clientList),
  success: Schema.Array(OauthClient),
  errors: [],
  handler: ({ path, query, search }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(clientList, query)
      const found = yield* OauthClients.use((clients) => clients.list(page))
      return linked(clientList, page, found, found.rows, { path, search })
    }),
})

const update = route({
  ...shared,
  id: "updateOauthClient",
  summary: "Change an OAuth client",
  description: "Changes the name or the redirect URIs. Members that the body does not have stay as they are.",
  method: "patch",
  path: "/oauth_clients/:client_id",
  sensitive: true,
  limit: "write",
  params: byId,
  body: UpdateOauthClient,
  success: OauthClient,
  errors: [NotFound],
  handler: ({ body, params }) =>
    Effect.map(atMostOnce(OauthClients.use((clients) => clients.update(params.client_id, body))), clientOf),
})

const rotate = route({
  ...shared,
  id: "rotateOauthClientSecret",
  summary: "Rotate the secret of an OAuth client",
  description:
    "The response is the only one that contains the new secret. The old one stops working at once.",
  method: "post",
  path: "/oauth_clients/:client_id/secret",
  sensitive: true,
  limit: "write",
  params: byId,
  success: OauthClientWithSecret,
  errors: [NotFound],
  handler: ({ params }) =>
    Effect.map(atMostOnce(OauthClients.use((clients) => clients.rotate(params.client_id))), clientWithSecret),
})

const remove = route({
  ...shared,
  id: "deleteOauthClient",
  summary: "Delete an OAuth client and revoke its tokens",
  description: "Users of the application lose the access that they had given to it.",
  method: "del",
  path: "/oauth_clients/:client_id",
  sensitive: true,
  limit: "write",
  params: byId,
  success: OauthClient,
  errors: [NotFound],
  handler: ({ params }) =>
    OauthClients.use((clients) =>
      Effect.flatMap(atMostOnce(clients.remove(params.client_id)), clients.removed),
    ),
})

export const oauthClients = [create, list, update, rotate, remove] as const
