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
  summary: "Register an OAuth client. The response is the only one that contains its secret",
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
  summary: "List OAuth clients, up to 1000 per page",
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
  summary: "Change the name or the redirect URIs of an OAuth client",
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
  summary: "Rotate the secret of an OAuth client. The old secret stops working",
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
