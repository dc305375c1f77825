import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { apart } from "../../actors/operation.ts"
import { type RegisterUserParameters, readEmail } from "../../schema/accounts/account.ts"
import { type FieldIssue, Unprocessable } from "../../schema/errors.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import type { SqlRefused } from "../postgres/sql-failures.ts"
import { Outbox } from "../turns/outbox.ts"
import { Accounts, type NewAccount, type SessionUser } from "./account-store.ts"
import { queueFull } from "./login/login.ts"
import type { LinkPurpose } from "./login/magic-link-store.ts"
import { MagicLinks, mailKind } from "./login/magic-links.ts"
import { Passwords, type PasswordUnacceptable } from "./passwords.ts"
import { type PlannedSession, planSession } from "./sessions/open-session.ts"
import { Sessions } from "./sessions/sessions.ts"

export const invalidField = (field: string, code: string, message: string) =>
  new Unprocessable({ error: message, fields: { [field]: [{ code, message }] } })

const passwordMessages: Record<PasswordUnacceptable["code"], string> = {
  too_short: "The password must have at least 8 characters.",
  too_long: "The password must have at most 200 characters.",
  malformed: "The password contains invalid Unicode.",
}
export const unacceptable = ({ code }: PasswordUnacceptable) =>
  invalidField("password", code, passwordMessages[code])

export const alreadyRegistered = (field: string) =>
  invalidField(field, "uniqueness", `This ${field} is already registered.`)

/** Converts a violated unique constraint of app_user into an error of the field `email` or `alternate_id`. */
export const uniquenessOf = (refused: SqlRefused) =>
  refused.sqlstate === "23505"
    ? Effect.fail(alreadyRegistered(refused.constraint.includes("alternate_id") ? "alternate_id" : "email"))
    : Effect.die(refused)

const required = (message: string): ReadonlyArray<FieldIssue> => [{ code: "required", message }]

/**
 * Checks that the body has an email or an alternate_id, and that it has a password if it has an alternate_id. Returns
 * the error, or undefined if the body is valid.
 */
const checkForm = (body: RegisterUserParameters) => {
  const { alternate_id, email, password } = body
  if (!email && !alternate_id) {
    return new Unprocessable({
      error: "Send an email, or an alternate_id with a password.",
      fields: { email: required("An email or an alternate_id is required.") },
    })
  }
  if (alternate_id && !password) {
    return new Unprocessable({
      error: "Registration with an alternate_id requires a password.",
      fields: { password: required("A password is required with an alternate_id.") },
    })
  }
  return undefined
}

/** Sends a login link if the email belongs to an invited account. */
const offerLink = Effect.fnUntraced(function* (email: string | undefined) {
  if (email === undefined) return
  const account = yield* Accounts.use((accounts) => accounts.find({ email }))
  if (account?.invited) {
    yield* apart(MagicLinks.use((links) => links.send({ email }))).pipe(
      Effect.catchTag("TooManyRequests", () => Effect.void),
    )
  }
})

export type Registered = WriteOutcome<{ readonly user: SessionUser }, PlannedSession>

/**
 * Registers a user. `registered` then opens a session. A user with an unconfirmed email cannot check out. If the email belongs to an
 * invited account that owns nothing, the user gets this account, but the password is not stored, because a stranger
 * may have entered the email. A password can be set after the mailed link is used. If the person who uses the link
 * shows neither this session nor this browser, the link also ends this session. If the email belongs to an invited
 * account that owns something, registration fails with "already registered", and a link is sent to the address.
 */
export const register = Effect.fnUntraced(function* (body: RegisterUserParameters) {
  const accounts = yield* Accounts
  const links = yield* MagicLinks
  const outbox = yield* Outbox
  const passwords = yield* Passwords

  const malformed = checkForm(body)
  if (malformed !== undefined) return yield* malformed
  const email = body.email ? readEmail(body.email) : undefined
  if (body.email && email === undefined) {
    return yield* invalidField("email", "invalid", "This is not a valid email address.")
  }
  if (email !== undefined)
    yield* RateLimits.use((limits) => limits.take("mail", { account: `register/${email}` }))
  const password_hash = body.password
    ? yield* passwords.hash(body.password).pipe(
        Effect.catchTags({
          PasswordUnacceptable: (failure) => Effect.fail(unacceptable(failure)),
          PasswordQueueFull: (failure) => Effect.fail(queueFull(failure)),
        }),
      )
    : undefined

  const purpose: LinkPurpose = password_hash === undefined ? "welcome" : "confirm"
  const made = email === undefined ? undefined : yield* links.make()
  const source = body.source || body.activation_source
  const account: NewAccount = {
    id: randomUUID(),
    ...(email === undefined ? {} : { email }),
    ...(body.alternate_id ? { alternate_id: body.alternate_id } : {}),
    ...(source ? { source } : {}),
    ...(body.first_name ? { first_name: body.first_name } : {}),
    ...(body.last_name ? { last_name: body.last_name } : {}),
    ...(body.partner_conversion_id ? { partner_conversion_id: body.partner_conversion_id } : {}),
    ...(body.partner_transaction_id ? { partner_transaction_id: body.partner_transaction_id } : {}),
    ...(password_hash === undefined ? {} : { password_hash }),
    ...(made === undefined || email === undefined
      ? {}
      : {
          link: { token_hash: made.token_hash, purpose, seconds: made.seconds },
          mail: yield* outbox.seal([{ to: email, kind: mailKind(purpose), data: { link: made.link } }]),
        }),
  }
  return yield* accounts.register(account, yield* planSession).pipe(
    Effect.catchTag("SqlRefused", uniquenessOf),
    Effect.tapErrorTag("Unprocessable", () => offerLink(email)),
  )
})

/** Opens the session of a registered user. */
export const registered = Effect.fnUntraced(function* ({ keep, rows }: Registered) {
  const { user } = rows[0]!
  const tokens = yield* Sessions.use((sessions) =>
    sessions.openPlanned(user, keep, { method: "registration" }),
  )
  return { userId: user.id, tokens }
})
