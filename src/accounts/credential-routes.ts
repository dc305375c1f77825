import { Effect } from "effect"
import {
  RegisterUserParameters,
  UpdateAccountResponse,
  UpdateUserParameters,
} from "../../schema/accounts/account.ts"
import { TokenResponse } from "../../schema/accounts/session.ts"
import { Conflict, NotFound, TwoFactorRequired, Unprocessable } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { CurrentUsers } from "./current-users.ts"
import { notStored, privately } from "./login/routes.ts"
import { register } from "./registration.ts"
import { Browsers } from "./sessions/browser-cookies.ts"
import { updateAccount } from "./update-own-account.ts"

const registerUser = route({
  id: "createUser",
  group: "users",
  summary: "Register by email, by email and password, or by alternate_id and password",
  method: "post",
  path: "/users",
  auth: "none",
  limit: "mail",
  body: RegisterUserParameters,
  success: TokenResponse,
  errors: [Unprocessable],
  headers: ["sec-fetch-site"],
  handler: ({ body, headers }) =>
    Effect.gen(function* () {
      const { tokens, userId } = yield* register(body)
      const browsers = yield* Browsers
      // Not where another site sent the form: that would make its password count as this browser's own.
      const isHere = headers["sec-fetch-site"] === "same-origin"
      return Reply.json(tokens, {
        headers: { ...notStored, ...(isHere ? { "Set-Cookie": browsers.registered(userId) } : {}) },
      })
    }),
})

const update = route({
  id: "updateAccount",
  group: "users",
  summary: "Change the current user's names, email or password",
  method: "patch",
  path: "/account",
  auth: "JWT",
  scope: "user:writeSelf",
  limit: "write",
  body: UpdateUserParameters,
  success: UpdateAccountResponse,
  errors: [Unprocessable, TwoFactorRequired, Conflict, NotFound],
  handler: ({ body, principal }) =>
    Effect.gen(function* () {
      const token_response = yield* updateAccount(principal, body)
      const current = yield* CurrentUsers.use((users) => users.ofCaller(principal))
      return privately({ ...current, ...(token_response === undefined ? {} : { token_response }) })
    }),
})

export const credentials = [registerUser, update] as const
