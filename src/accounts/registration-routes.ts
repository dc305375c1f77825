import { Effect } from "effect"
import { RegisterUserParameters } from "../../schema/accounts/account.ts"
import { TokenResponse } from "../../schema/accounts/session.ts"
import { Unprocessable } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { notStored } from "./login/routes.ts"
import { register } from "./registration.ts"
import { BrowserCookies } from "./sessions/browser-cookies.ts"

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
      const browsers = yield* BrowserCookies
      // Not where another site sent the form: that would make its password count as this browser's own.
      const isHere = headers["sec-fetch-site"] === "same-origin"
      return Reply.json(tokens, {
        headers: { ...notStored, ...(isHere ? { "Set-Cookie": browsers.registered(userId) } : {}) },
      })
    }),
})

export const registration = [registerUser] as const
