import { Effect } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { SuccessResponse } from "../../../schema/accounts/session.ts"
import {
  BackupDisableBody,
  Confirm2FaUpdate,
  Disable2FABody,
  Enable2FABody,
  Enable2FAResponse,
  SuccessResponse2FA,
} from "../../../schema/accounts/two-factor.ts"
import { NotFound, Unauthorized, Unprocessable } from "../../../schema/errors.ts"
import type { Principal } from "../../http/principal.ts"
import { route } from "../../http/route.ts"
import { bearerToken, refuseToken } from "../authenticate.ts"
import { CallerCache } from "../caller-cache.ts"
import { accountName } from "../login/login.ts"
import { privately } from "../login/routes.ts"
import { invalidField } from "../registration.ts"
import { Tokens } from "../sessions/tokens.ts"
import { SecondFactors } from "./second-factors.ts"
import { TwoFactor } from "./two-factor.ts"

const group = "users"

/**
 * Finds the user of a login that waits for its two-factor code. The access token of such a login is not accepted by
 * other operations, but it identifies the user. Returns undefined if the request has no such token.
 */
const findPending = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  const token = bearerToken(headers)
  if (token === undefined) return undefined
  const claims = yield* Tokens.use((tokens) => tokens.verify(token, "pending")).pipe(
    Effect.catchTag("TokenInvalid", () => Effect.succeed(undefined)),
  )
  if (claims === undefined) return undefined
  const caller = yield* CallerCache.use((callers) => callers.find(claims.sub))
  const isValid = caller?.active && caller.epoch === claims.ep && !caller.revokedSessions.has(claims.sid)
  return isValid ? claims.sub : undefined
})

const notPending =
  "The access token is not valid here. Send that of a sign-in session, or of a sign-in that waits for its two-factor code."

const sessionUser = (principal: Principal | null) =>
  principal?.via === "session" ? principal.userId : undefined

const enableRow = {
  group,
  summary: "Start the setup of a two-factor method",
  method: "post",
  auth: "two_factor",
  scope: "user:writeSelf",
  sensitive: true,
  limit: "code",
  body: Enable2FABody,
  success: Enable2FAResponse,
  errors: [Unprocessable],
  handler: ({
    body,
    principal,
  }: {
    readonly body: typeof Enable2FABody.Type
    readonly principal: Principal
  }) =>
    TwoFactor.use((factors) =>
      Effect.map(atMostOnce(factors.enable(principal.userId, body)), ({ keep }) => privately(keep)),
    ),
} as const

const enable = route({
  ...enableRow,
  id: "enable2FA",
  description:
    "For an authenticator app the response has the secret and a link for a QR code; for SMS a code is sent to `phone`. The backup codes are shown only now. The method is in use after `POST /account/2fa/confirm`.",
  path: "/account/2fa/enable",
})
const enableShort = route({
  ...enableRow,
  id: "enable2FAShort",
  description: "The same operation as `POST /account/2fa/enable`.",
  path: "/account/2fa",
})

const confirm = route({
  id: "confirm2FA",
  group,
  summary: "Confirm the setup of a two-factor method with its code",
  description:
    "Puts the method into use. All other sessions of the user must then enter a code before sensitive operations, and API keys lose sensitive operations.",
  method: "post",
  path: "/account/2fa/confirm",
  auth: "two_factor",
  scope: "user:writeSelf",
  sensitive: true,
  limit: "code",
  body: Confirm2FaUpdate,
  success: SuccessResponse,
  errors: [Unprocessable],
  handler: ({ body, principal }) =>
    Effect.gen(function* () {
      const factors = yield* TwoFactor
      const checked = yield* atMostOnce(factors.confirm(principal.userId, body.code))
      const provider = yield* factors.confirmed(checked, principal.sessionId)
      return { message: `Two-factor authentication with ${provider} is enabled.` }
    }),
})

const disable = route({
  id: "disable2FA",
  group,
  summary: "Disable one or all two-factor methods",
  description:
    "Send `provider`, or `disable_all: true`. It is a sensitive operation, so it needs a recent code.",
  method: "post",
  path: "/account/2fa/disable",
  auth: "two_factor",
  scope: "user:writeSelf",
  sensitive: true,
  limit: "code",
  body: Disable2FABody,
  success: SuccessResponse,
  errors: [Unprocessable, NotFound],
  handler: ({ body, principal }) =>
    Effect.gen(function* () {
      if (!body.disable_all && !body.provider) {
        return yield* invalidField("provider", "required", "Send a provider, or set disable_all to true.")
      }
      const provider = body.disable_all ? undefined : (body.provider ?? undefined)
      yield* TwoFactor.use((factors) =>
        Effect.flatMap(atMostOnce(factors.disable(principal.userId, provider)), factors.disabled),
      )
      return { message: `Two-factor authentication ${provider ? `with ${provider} ` : ""}is disabled.` }
    }),
})

const backupDisable = route({
  id: "backupDisable2FA",
  group,
  summary: "Disable two-factor authentication with a backup code",
  description:
    "For users who have lost their device. No sign-in is required: name the account by email or `alternate_id`. Each backup code works once, and wrong codes count towards the lock of the account.",
  method: "post",
  path: "/account/2fa/backup_disable",
  auth: "optional",
  limit: "code",
  body: BackupDisableBody,
  success: SuccessResponse,
  errors: [Unprocessable],
  handler: ({ body, headers, principal }) =>
    Effect.gen(function* () {
      const userId = sessionUser(principal) ?? (yield* findPending(headers))
      const name = accountName(body)
      const who = userId !== undefined ? { userId } : name !== undefined ? { name } : undefined
      if (who === undefined) {
        return yield* invalidField(
          "email",
          "required",
          "Sign in, or send the account's email or alternate_id.",
        )
      }
      const provider = body.disable_all ? undefined : (body.provider ?? undefined)
      return yield* TwoFactor.use((factors) => factors.disableByBackup(who, body.backup_code, provider))
    }).pipe(
      atMostOnce,
      Effect.flatMap((used) => TwoFactor.use((factors) => factors.disabledByBackup(used))),
      Effect.as({ message: "Two-factor authentication was disabled with a backup code." }),
    ),
})

const smsCode = route({
  id: "send2FASms",
  group,
  summary: "Send a two-factor code by SMS",
  description:
    "Sends it to the current user, or to the user of a pending sign-in if the access token of that sign-in is sent.",
  method: "post",
  path: "/account/2fa/sms_code",
  auth: "optional",
  limit: "mail",
  success: SuccessResponse2FA,
  errors: [Unauthorized, Unprocessable],
  handler: ({ headers, principal }) =>
    Effect.gen(function* () {
      const current = sessionUser(principal)
      const userId = current ?? (yield* findPending(headers))
      if (userId === undefined)
        return yield* bearerToken(headers) === undefined ? new Unauthorized({}) : refuseToken(notPending)
      return yield* SecondFactors.use((factors) =>
        factors.sendSms(userId, { confirmedOnly: current === undefined }),
      )
    }).pipe(
      atMostOnce,
      Effect.map(({ keep: { lastDigits } }) => ({
        message: `A code was sent to the phone ending in ${lastDigits}.`,
        phone_last_digits: lastDigits,
      })),
    ),
})

export const twoFactor = [enable, enableShort, confirm, disable, backupDisable, smsCode] as const
