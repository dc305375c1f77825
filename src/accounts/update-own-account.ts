import { Effect } from "effect"
import { readEmail, type UpdateUserParameters } from "../../schema/accounts/account.ts"
import { Conflict, Forbidden, NotFound } from "../../schema/errors.ts"
import type { Mail } from "../../schema/turn.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import type { Principal } from "../http/principal.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Outbox } from "../turns/outbox.ts"
import { accountKey } from "./account-name.ts"
import { type Account, type AccountChange, type AccountChanged, Accounts } from "./account-store.ts"
import { checkRevokesKeys, passwordNotice } from "./api-keys/password-notice.ts"
import { CallerCache } from "./caller-cache.ts"
import { queueFull } from "./login/login.ts"
import { MagicLinks, mailKind } from "./login/magic-links.ts"
import { hashNewPassword, noticeTo } from "./login/new-password.ts"
import { currentPasswordWasRight, takeCurrentPasswordAttempt } from "./login/password-attempts.ts"
import { Passwords } from "./passwords.ts"
import { invalidField, uniquenessOf } from "./registration.ts"
import { recordEvent } from "./security-log/security-log.ts"
import { type PlannedSession, planSession } from "./sessions/open-session.ts"
import { Sessions } from "./sessions/sessions.ts"

/** Fails unless `typed` is the password of the account. The number of attempts is limited. */
export const checkCurrentPassword = Effect.fnUntraced(function* (
  account: Account,
  typed: string | null | undefined,
) {
  const passwords = yield* Passwords
  if (!typed) {
    return yield* invalidField("current_password", "required", "The current password is required.")
  }
  yield* takeCurrentPasswordAttempt(account.id)
  const isRight = yield* passwords
    .verify(account.password_hash ?? undefined, typed)
    .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
  if (!isRight) {
    yield* recordEvent({ event: "login.failed", userId: account.id, details: { method: "current_password" } })
    return yield* invalidField("current_password", "invalid", "The current password is wrong.")
  }
  yield* currentPasswordWasRight(account.id)
})

/** Fails unless the caller may change the email or the password of the account. */
const checkMayChange = Effect.fnUntraced(function* (
  principal: Principal,
  account: Account,
  body: UpdateUserParameters,
  email: string | undefined,
) {
  if (principal.via !== "session") {
    return yield* new Forbidden({ error: "Changing the email or the password requires a sign-in session." })
  }
  if (principal.twoFactor) {
    yield* Sessions.use((sessions) => sessions.checkFresh(principal.sessionId))
  }
  if (account.password_hash === null) {
    // An account with an address and without a password must first confirm the address. Otherwise a stranger could
    // register somebody else's address, set a password or another address, and keep the account with everything that
    // others send to that address. There is one exception: a user who mistyped a new address may return to the address
    // that was confirmed before.
    if (account.email !== null && !account.email_verified) {
      const left = yield* Accounts.use((accounts) => accounts.findLeftEmail(account.id))
      if (!body.password && email === left) return
      return yield* invalidField(
        body.password ? "password" : "email",
        "email_unconfirmed",
        "Confirm your email address first: open the link that we sent to it.",
      )
    }
    return
  }
  yield* checkCurrentPassword(account, body.current_password)
})

const newEmailOf = Effect.fnUntraced(function* (account: Account, body: UpdateUserParameters) {
  if (!body.email) return undefined
  const email = readEmail(body.email)
  if (email === undefined)
    return yield* invalidField("email", "invalid", "This is not a valid email address.")
  return email === account.email ? undefined : email
})

/** What was changed, and the session that the caller gets if the password was changed. */
type AccountUpdated = WriteOutcome<
  { readonly done: AccountChanged | null },
  {
    readonly userId: string
    readonly hasNewEmail: boolean
    readonly hasNewPassword: boolean
    readonly session: PlannedSession
    readonly verifiedAt?: number
  }
>

/** Updates the caller's account. A new password ends every session. */
export const updateAccount = Effect.fnUntraced(function* (principal: Principal, body: UpdateUserParameters) {
  const accounts = yield* Accounts
  const callers = yield* CallerCache
  const links = yield* MagicLinks
  const outbox = yield* Outbox
  const sessions = yield* Sessions

  const account = yield* accounts.find({ id: principal.userId })
  if (account === undefined) return yield* new NotFound({ error: "User not found." })
  const revokesKeys = yield* checkRevokesKeys(body)
  const email = yield* newEmailOf(account, body)
  const changesAccess = Boolean(body.password) || email !== undefined
  if (changesAccess) yield* checkMayChange(principal, account, body, email)
  if (email !== undefined)
    yield* RateLimits.use((limits) => limits.take("mail", { account: accountKey({ email }) }))
  const new_hash = body.password ? yield* hashNewPassword(body.password) : undefined

  const made = email === undefined ? undefined : yield* links.make()
  const mail: Array<Mail> = []
  if (made !== undefined && email !== undefined) {
    mail.push({ to: email, kind: mailKind("confirm"), data: { link: made.link } })
    mail.push(...noticeTo(account, "the email address of your account was changed"))
  }
  if (new_hash !== undefined) {
    const address = account.email_verified ? account.email : null
    mail.push(...(yield* passwordNotice(account.id, address, revokesKeys)))
  }

  const verifiedAt = new_hash === undefined ? undefined : yield* sessions.findVerifiedAt(principal.sessionId)
  const change: AccountChange = {
    id: account.id,
    ...(typeof body.first_name === "string" ? { first_name: body.first_name } : {}),
    ...(typeof body.last_name === "string" ? { last_name: body.last_name } : {}),
    ...(changesAccess ? { old_hash: account.password_hash } : {}),
    ...(new_hash === undefined ? {} : { new_hash }),
    ...(revokesKeys ? { revoke_api_keys: true } : {}),
    ...(email === undefined ? {} : { email }),
    ...(made === undefined
      ? {}
      : { link: { token_hash: made.token_hash, purpose: "confirm", seconds: made.seconds } }),
    ...(mail.length === 0 ? {} : { mail: yield* outbox.seal(mail) }),
  }
  const keep: AccountUpdated["keep"] = {
    userId: account.id,
    hasNewEmail: email !== undefined,
    hasNewPassword: new_hash !== undefined,
    session: yield* planSession,
    ...(verifiedAt === undefined ? {} : { verifiedAt }),
  }
  const written = yield* accounts
    .update(change, keep)
    .pipe(Effect.catchTag("SqlRefused", uniquenessOf), callers.invalidating(account.id))
  if ((written.outcome.rows[0]?.done ?? null) === null) {
    return yield* new Conflict({
      error: "Another request changed the password or deleted the account. Sign in again and retry.",
    })
  }
  return written
})

/** Returns new tokens for the caller if the password was changed, or undefined. */
export const accountUpdated = Effect.fnUntraced(function* ({ keep, rows }: AccountUpdated) {
  const { userId, verifiedAt } = keep
  const sessions = yield* Sessions
  if (keep.hasNewEmail) yield* recordEvent({ event: "email.changed", userId })
  if (keep.hasNewPassword) yield* recordEvent({ event: "password.changed", userId })
  const { events, user } = rows[0]!.done!
  if (user === undefined) return undefined
  yield* sessions.ended({ events })
  return yield* sessions.openPlanned(user, keep.session, { verifiedAt, method: "password_change" })
})
