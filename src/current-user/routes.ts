import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { UpdateAccountResponse, UpdateUserParameters } from "../../schema/accounts/account.ts"
import { CurrentUser, LoadUser } from "../../schema/accounts/current-user.ts"
import { Conflict, NotFound, TwoFactorRequired, Unprocessable } from "../../schema/errors.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { AccountResponseCache } from "../accounts/account-response-cache.ts"
import { privately } from "../accounts/login/routes.ts"
import { accountUpdated, updateAccount } from "../accounts/update-own-account.ts"
import { route } from "../http/route.ts"
import { CurrentUsers } from "./current-users.ts"
import { loadAccess, SessionData } from "./session-data.ts"

const show = route({
  id: "getAccount",
  group: "users",
  summary: "Get the current user with roles, scopes and features",
  description:
    "The profile of the caller: names, email, role, scopes, features and limits. A client shows or hides functions by `scopes`.",
  method: "get",
  path: "/account",
  auth: "JWT",
  success: CurrentUser,
  errors: [NotFound],
  prepared: AccountResponseCache.use((responses) => Effect.succeed(responses.prepared)),
  handler: Effect.fnUntraced(function* ({ principal }) {
    const remember = (yield* AccountResponseCache).watch(principal.userId)
    const account = yield* (yield* CurrentUsers).ofCaller(principal)
    if (principal.via === "session") remember(JSON.stringify(account))
    return account
  }),
})

const load = route({
  id: "load",
  group: "users",
  summary: "Get the session data of a user",
  description:
    "Everything that an application needs after a sign-in, in one answer: user, ids, keys and open transfers. `user_id` requires adminUser:load, `organization_id` requires organizationEmoji:list.",
  method: "get",
  path: "/account/load",
  auth: "JWT",
  access: loadAccess,
  query: { user_id: Schema.optionalKey(Uuid), organization_id: Schema.optionalKey(Uuid) },
  success: LoadUser,
  errors: [NotFound],
  handler: ({ principal, query }) => SessionData.use((data) => data.load(principal, query)),
})

const update = route({
  id: "updateAccount",
  group: "users",
  summary: "Change the current user's names, email or password",
  description:
    "A new email must be confirmed by the mailed link. A new password needs `current_password`; it ends the other sessions. Email and password are sensitive, so users with two-factor authentication get 424 without a recent code.",
  method: "patch",
  path: "/account",
  auth: "JWT",
  scope: "user:writeSelf",
  endsLogin: true,
  limit: "write",
  body: UpdateUserParameters,
  success: UpdateAccountResponse,
  errors: [Unprocessable, TwoFactorRequired, Conflict, NotFound],
  handler: ({ body, principal }) =>
    Effect.gen(function* () {
      const token_response = yield* accountUpdated(yield* atMostOnce(updateAccount(principal, body)))
      const current = yield* CurrentUsers.use((users) =>
        // A session has all scopes of its user's role. The caller of a retry whose session has ended has none.
        principal.via === "session" ? users.ofUser(principal.userId) : users.ofCaller(principal),
      )
      return privately({ ...current, ...(token_response === undefined ? {} : { token_response }) })
    }),
})

export const currentUser = [show, load, update] as const
