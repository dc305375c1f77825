import { Data, Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { readEmail } from "../../schema/accounts/account.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { nameByEmail } from "../accounts/account-name.ts"
import { login } from "../accounts/login/login.ts"
import { type LinkSite, MagicLinks } from "../accounts/login/magic-links.ts"
import { PasswordResets } from "../accounts/login/password-resets.ts"
import { Recaptcha } from "../accounts/login/recaptcha.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { Sessions } from "../accounts/sessions/sessions.ts"
import { SecondFactors } from "../accounts/two-factor/second-factors.ts"
import type { Form } from "../http/request/form.ts"

/** The login failed. The page shows the form again with this error. */
export class LoginFailed extends Data.TaggedError("LoginFailed")<{ readonly error: string }> {}

/** Returns the email of the form as the user wrote it. */
const emailOf = ({ email = "" }: Form): Effect.Effect<string, LoginFailed> =>
  readEmail(email) === undefined
    ? Effect.fail(new LoginFailed({ error: "Enter a valid email address." }))
    : Effect.succeed(email)

/** Checks that a human has sent the form, if the service is configured to do so. */
const checkHuman = (form: Form): Effect.Effect<void, LoginFailed | Unavailable, Recaptcha> =>
  Recaptcha.use((recaptcha) => recaptcha.check((form["g_recaptcha_response"] ?? "").slice(0, 4096))).pipe(
    Effect.catchTag("Unprocessable", () =>
      Effect.fail(
        new LoginFailed({
          error: "The check that you are not a robot failed. Allow the scripts of reCAPTCHA and try again.",
        }),
      ),
    ),
  )

/** Emails a login link if a user has this address. Returns the address, also if there is no such user. */
export const mailLink = Effect.fnUntraced(function* (
  form: Form,
  parameters: Readonly<Record<string, string>>,
  site: LinkSite,
) {
  const email = yield* emailOf(form)
  yield* checkHuman(form)
  yield* MagicLinks.use((links) => links.send(nameByEmail(email), parameters, site))
  return email
})

/** Emails a link that sets a new password. Returns the address, also if there is no such user. */
export const mailReset = Effect.fnUntraced(function* (
  form: Form,
  parameters: Readonly<Record<string, string>>,
  site: LinkSite,
) {
  const email = yield* emailOf(form)
  yield* checkHuman(form)
  yield* PasswordResets.use((resets) =>
    Effect.flatMap(atMostOnce(resets.send(email, parameters, site)), resets.sent),
  )
  return email
})

export const logInByPassword = (form: Form) =>
  Effect.gen(function* () {
    const email = yield* emailOf(form)
    yield* checkHuman(form)
    const session = yield* atMostOnce(login({ email, password: (form["password"] ?? "").slice(0, 1600) }))
    return yield* Sessions.use((sessions) => sessions.opened(session))
  }).pipe(
    Effect.catchTags({
      Unauthorized: () => Effect.fail(new LoginFailed({ error: "Incorrect email or password." })),
      InvalidRequest: ({ message }) => Effect.fail(new LoginFailed({ error: message })),
    }),
  )

export const logInByCode = (sessionToken: string, form: Form) =>
  Sessions.use((sessions) =>
    Effect.flatMap(
      atMostOnce(sessions.verifyCode(sessionToken, (form["code"] ?? "").slice(0, 64))),
      sessions.codeVerified,
    ),
  ).pipe(Effect.catchTag("Unauthorized", ({ message }) => Effect.fail(new LoginFailed({ error: message }))))

export const sendCodeAgain = ({ account }: BrowserSession) =>
  SecondFactors.use((factors) => factors.sendSms(account.id, { confirmedOnly: true })).pipe(
    Effect.catchTag("Unprocessable", ({ message }) => Effect.fail(new LoginFailed({ error: message }))),
  )
