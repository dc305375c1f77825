import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { RegisterUserParameters } from "../../schema/accounts/account.ts"
import { TokenResponse } from "../../schema/accounts/session.ts"
import { Unprocessable } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { Recaptcha, recaptchaHeaders } from "./login/recaptcha.ts"
import { notStored } from "./login/routes.ts"
import { register, registered } from "./registration.ts"
import { BrowserCookies } from "./sessions/browser-cookies.ts"

const registerUser = route({
  id: "createUser",
  group: "users",
  summary: "Register a user",
  description:
    "Send an email, an email and a password, or an `alternate_id` and a password. Returns the tokens of a session. The user gets a custodial key, and a mail that confirms the address, which a checkout requires. A name that is taken is 422 `uniqueness`.",
  method: "post",
  path: "/users",
  auth: "none",
  limit: "mail",
  work: "login",
  body: RegisterUserParameters,
  success: TokenResponse,
  errors: [Unprocessable],
  headers: ["sec-fetch-site", ...recaptchaHeaders],
  handler: ({ body, headers }) =>
    Effect.gen(function* () {
      const act = Recaptcha.use((recaptcha) =>
        recaptcha.checkRequest(body.g_recaptcha_response, headers),
      ).pipe(Effect.andThen(register(body)))
      const { tokens, userId } = yield* registered(yield* atMostOnce(act))
      const browsers = yield* BrowserCookies
      // With this cookie, the browser can confirm the email without the password. A request from another site must
      // not set the cookie.
      const isSameOrigin = headers["sec-fetch-site"] === "same-origin"
      return Reply.json(tokens, {
        headers: { ...notStored, ...(isSameOrigin ? { "Set-Cookie": browsers.registered(userId) } : {}) },
      })
    }),
})

export const registration = [registerUser] as const
