import { Effect, Schema } from "effect"
import { CurrentUser, LoadUser } from "../../schema/accounts/current-user.ts"
import { NotFound } from "../../schema/errors.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { AccountAnswers } from "./account-response-cache.ts"
import { CurrentUsers } from "./current-users.ts"
import { SessionData } from "./sessions/session-data.ts"

const show = route({
  id: "getAccount",
  group: "users",
  summary: "The current user, with roles, scopes and features",
  method: "get",
  path: "/account",
  auth: "JWT",
  success: CurrentUser,
  errors: [NotFound],
  prepared: AccountAnswers.use((answers) => Effect.succeed(answers.prepared)),
  handler: Effect.fnUntraced(function* ({ principal }) {
    const keep = (yield* AccountAnswers).watch(principal.userId)
    const account = yield* (yield* CurrentUsers).ofCaller(principal)
    if (principal.via === "session") keep(JSON.stringify(account))
    return account
  }),
})

const load = route({
  id: "load",
  group: "users",
  summary:
    "Session data in one answer; of another user for administrators, with an organization's ids for its power roles",
  method: "get",
  path: "/account/load",
  auth: "JWT",
  query: { user_id: Schema.optionalKey(Uuid), organization_id: Schema.optionalKey(Uuid) },
  success: LoadUser,
  errors: [NotFound],
  handler: ({ principal, query }) => SessionData.use((data) => data.load(principal, query)),
})

export const currentUser = [show, load] as const
