import { Schema } from "effect"
import { CurrentUser, LoadUser } from "../../schema/current-user.ts"
import { NotFound } from "../../schema/errors.ts"
import { Uuid } from "../../schema/wire.ts"
import { route } from "../http/route.ts"
import { CurrentUsers } from "../services/current-users.ts"
import { SessionData } from "../services/session-data.ts"

const show = route({
  id: "getAccount",
  group: "users",
  summary: "The current user, with roles, scopes and features",
  method: "get",
  path: "/account",
  auth: "JWT",
  success: CurrentUser,
  errors: [NotFound],
  handler: ({ principal }) => CurrentUsers.use((users) => users.ofCaller(principal)),
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
