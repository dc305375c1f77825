import { CurrentUser } from "../../schema/current-user.ts"
import { NotFound } from "../../schema/errors.ts"
import { route } from "../http/route.ts"
import { CurrentUsers } from "../services/current-users.ts"

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

export const currentUser = [show] as const
