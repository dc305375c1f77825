import { Effect } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import {
  Confirm2Fa,
  LoginRequest,
  MagicLinkConsumeRequest,
  MagicLinkLoginRequest,
  MagicLinkLoginResponse,
  PasswordResetConfirmRequest,
  PasswordResetRequest,
  RefreshRequest,
  SuccessResponse,
  TokenResponse,
} from "../../../schema/accounts/session.ts"
import { Conflict, InvalidRequest, Unauthorized, Unprocessable } from "../../../schema/errors.ts"
import { Reply } from "../../http/response/reply.ts"
import { route } from "../../http/route.ts"
import { bearerToken, refuseToken } from "../authenticate.ts"
import { BrowserCookies } from "../sessions/browser-cookies.ts"
import { Sessions } from "../sessions/sessions.ts"
import { accountName, login } from "./login.ts"
import { MagicLinks } from "./magic-links.ts"
import { PasswordResets } from "./password-resets.ts"
import { Recaptcha, recaptchaHeaders } from "./recaptcha.ts"

const group = "authentication"

/** Caches must not store responses that contain tokens. */
export const notStored = { "Cache-Control": "no-store" }
export const privately = <A>(value: A) => Reply.json(value, { headers: notStored })

const token = route({
  id: "login",
  group,
  summary: "Sign in with a password and an email or alternate_id",
  description:
    "Returns an access token for 15 minutes and a refresh token for 30 days. If `requires_2fa` is not empty, send a code with the refresh token to `POST /auth/2fa` first. A wrong name or password is 401, without saying which.",
  method: "post",
  path: "/auth/token",
  auth: "none",
  limit: "login",
  body: LoginRequest,
  success: TokenResponse,
  errors: [Unauthorized, Unprocessable],
  headers: recaptchaHeaders,
  handler: ({ body, headers }) =>
    Recaptcha.use((recaptcha) => recaptcha.checkRequest(body.g_recaptcha_response, headers)).pipe(
      Effect.andThen(login(body)),
      atMostOnce,
      Effect.flatMap((session) => Sessions.use((sessions) => sessions.opened(session))),
      Effect.map(privately),
    ),
})

const refresh = route({
  id: "refreshToken",
  group,
  summary: "Exchange a refresh token for new tokens",
  description:
    "Returns a new access token and a new refresh token. A refresh token works once: its predecessor is accepted for at most 60 seconds, and any older one ends the session.",
  method: "post",
  path: "/auth/token/refresh",
  auth: "none",
  limit: "write",
  body: RefreshRequest,
  success: TokenResponse,
  errors: [Unauthorized],
  handler: ({ body }) =>
    Sessions.use((sessions) =>
      atMostOnce(sessions.refresh(body.refresh_token)).pipe(
        Effect.flatMap(sessions.refreshed),
        Effect.map(privately),
      ),
    ),
})

const twoFactor = route({
  id: "twoFactorAuthentication",
  group,
  summary: "Verify a two-factor code",
  description:
    'Completes a sign-in, or renews the 15 minutes in which a session may do sensitive operations. `refresh_token` is the one of the sign-in. Each code works once. Five wrong codes in a row lock the codes of the account for 15 minutes: the answer is then 429 with `"state": "Locked"`.',
  method: "post",
  path: "/auth/2fa",
  auth: "none",
  limit: "code",
  body: Confirm2Fa,
  success: TokenResponse,
  errors: [Unauthorized],
  handler: ({ body }) =>
    Sessions.use((sessions) =>
      atMostOnce(sessions.verifyCode(body.refresh_token, body.code, { repeatsSetup: true })).pipe(
        Effect.flatMap(sessions.codeVerified),
        Effect.map(privately),
      ),
    ),
})

const sentIfKnown = {
  status: "Active",
  message: "If this address belongs to a user who can sign in by email, a link has been sent to it.",
} as const

const magicLink = route({
  id: "magicLinkLogin",
  group,
  summary: "Mail a sign-in link",
  description:
    "The answer is the same whether or not the user exists. `redirect` is the path at which the browser continues after the sign-in.",
  method: "post",
  path: "/auth/magic_link",
  work: "login",
  auth: "optional",
  limit: "mail",
  body: MagicLinkLoginRequest,
  success: MagicLinkLoginResponse,
  errors: [Unprocessable],
  headers: recaptchaHeaders,
  handler: ({ body, headers, principal }) =>
    Effect.gen(function* () {
      yield* Recaptcha.use((recaptcha) => recaptcha.checkRequest(body.g_recaptcha_response, headers))
      const name = accountName(body) ?? (body.user_id ? { id: body.user_id.toLowerCase() } : undefined)
      if (name === undefined) {
        return yield* new InvalidRequest({ error: "body: expected an email or a user_id" })
      }
      const links = yield* MagicLinks
      return yield* links.send(name, body.redirect ? { redirect: body.redirect } : {})
    }).pipe(
      atMostOnce,
      Effect.map(({ keep: { account } }) =>
        account !== null && account.id === principal?.userId && principal.via === "session"
          ? { ...sentIfKnown, status: account.status }
          : sentIfKnown,
      ),
    ),
})

const consumeMagicLink = route({
  id: "consumeMagicLink",
  group,
  summary: "Sign in with the token of a mailed link",
  description:
    "Confirms the email address. An account with a password also requires the password or an access token; without either the response is 422 `required`. `discard_credentials: true` replaces both: it removes the password, sessions and keys that were set up before.",
  method: "post",
  path: "/auth/magic_link/consume",
  auth: "optional",
  limit: "login",
  body: MagicLinkConsumeRequest,
  success: TokenResponse,
  errors: [Conflict, Unauthorized, Unprocessable],
  headers: ["cookie"],
  handler: ({ body, headers, principal }) =>
    Effect.gen(function* () {
      // A caller with an invalid or expired token must not count as a stranger, because using the link could then
      // remove the caller's own credentials.
      if (principal === null && bearerToken(headers) !== undefined) {
        return yield* refuseToken(
          "The access token is invalid or expired. The link was not used. Renew the token and try again.",
        )
      }
      const { registered } = (yield* BrowserCookies).read(headers)
      const caller = principal?.via === "session" ? principal.userId : undefined
      const users = [registered, caller].filter((id) => id !== undefined)
      const links = yield* MagicLinks
      const shown = {
        users,
        password: body.password,
        discardsCredentials: body.discard_credentials === true,
      }
      return privately(yield* links.consumed(yield* atMostOnce(links.consume(body.token, shown))))
    }),
})

const requestReset = route({
  id: "requestPasswordReset",
  group,
  summary: "Mail a link that sets a new password",
  description:
    "An account without a password gets a sign-in link, an unconfirmed address a confirmation link. The answer is the same whether or not the user exists.",
  method: "post",
  path: "/auth/password_reset",
  work: "login",
  auth: "none",
  limit: "mail",
  body: PasswordResetRequest,
  success: SuccessResponse,
  errors: [Unprocessable],
  headers: recaptchaHeaders,
  handler: ({ body, headers }) =>
    Effect.gen(function* () {
      yield* Recaptcha.use((recaptcha) => recaptcha.checkRequest(body.g_recaptcha_response, headers))
      const email = body.email.trim().toLowerCase()
      if (email === "") return yield* new InvalidRequest({ error: "body: expected an email" })
      const parameters: Record<string, string> = body.redirect ? { redirect: body.redirect } : {}
      return yield* PasswordResets.use((resets) => resets.send(email, parameters))
    }).pipe(
      atMostOnce,
      Effect.flatMap((link) => PasswordResets.use((resets) => resets.sent(link))),
      Effect.as({ message: "If this address belongs to an account, a link has been sent to it." }),
    ),
})

const confirmReset = route({
  id: "confirmPasswordReset",
  group,
  summary: "Set a new password with the token of a mailed link",
  description:
    "Returns the tokens of a new session and ends all other sessions. Users with two-factor authentication must still enter a code.",
  method: "post",
  path: "/auth/password_reset/confirm",
  auth: "none",
  limit: "login",
  body: PasswordResetConfirmRequest,
  success: TokenResponse,
  errors: [Unauthorized, Unprocessable],
  handler: ({ body }) =>
    PasswordResets.use((resets) =>
      atMostOnce(resets.confirm(body.token, body.password)).pipe(
        Effect.flatMap(resets.confirmed),
        Effect.map(privately),
      ),
    ),
})

const logout = route({
  id: "logout",
  group,
  summary: "Sign out: end all sessions and access tokens of the user",
  description:
    "Also closes the live sockets of the user. To end one session only, use `DELETE /account/sessions/{session_id}`.",
  method: "post",
  path: "/logout",
  auth: "two_factor",
  scope: "user:writeSelf",
  endsLogin: true,
  success: SuccessResponse,
  errors: [],
  handler: ({ principal }) =>
    Sessions.use((sessions) =>
      atMostOnce(sessions.endAll(principal.userId, "logout")).pipe(
        Effect.flatMap(sessions.endedAll),
        Effect.as({ message: "All sessions were ended." }),
      ),
    ),
})

export const auth = [
  token,
  refresh,
  twoFactor,
  magicLink,
  consumeMagicLink,
  requestReset,
  confirmReset,
  logout,
] as const
