import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { SuccessResponse } from "../../../schema/accounts/session.ts"
import { NotFound } from "../../../schema/errors.ts"
import { arrayQuery, pageRequest } from "../../../schema/paging.ts"
import { GrantedApplication } from "../../../schema/sign-in/granted-application.ts"
import { text } from "../../../schema/wire-format.ts"
import { linked } from "../../http/response/page-links.ts"
import { route } from "../../http/route.ts"
import { GrantedApplications, grantedList } from "./granted-application-store.ts"

const shared = { group: "authorization", auth: "two_factor" } as const

const list = route({
  ...shared,
  id: "listGrantedApplications",
  summary: "List the applications that you gave access to",
  description:
    "Each OAuth application with the emoji ids that you chose for it, and when it last got tokens. The newest access is first; at most 200 are on a page.",
  method: "get",
  path: "/account/applications",
  limit: "read",
  query: arrayQuery(grantedList),
  success: Schema.Array(GrantedApplication),
  errors: [],
  handler: ({ path, principal, query, search }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(grantedList, query)
      const found = yield* GrantedApplications.use((granted) => granted.list(principal.userId, page))
      return linked(grantedList, page, found, found.rows, { path, search })
    }),
})

const revoke = route({
  ...shared,
  id: "revokeGrantedApplication",
  summary: "End the access of an application",
  description:
    "Its refresh tokens, access tokens and unused codes stop working immediately. It gets access again if you sign in with it again.",
  method: "del",
  path: "/account/applications/:client_id",
  scope: "user:writeSelf",
  limit: "write",
  params: { client_id: text(64) },
  success: SuccessResponse,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    GrantedApplications.use((granted) =>
      atMostOnce(granted.revoke(principal.userId, params.client_id)).pipe(
        Effect.flatMap(granted.revoked),
        Effect.as({ message: "The access of the application was ended." }),
      ),
    ),
})

export const grantedApplications = [list, revoke] as const
