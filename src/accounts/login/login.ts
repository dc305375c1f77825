import { Effect } from "effect"
import { InvalidRequest, Unauthorized, Unavailable } from "../../../schema/errors.ts"
import { type AccountName, accountKey, nameByEmail } from "../account-name.ts"
import { Accounts } from "../account-store.ts"
import { type PasswordQueueFull, Passwords } from "../passwords.ts"
import { recordEvent } from "../security-log/security-log.ts"
import { Sessions } from "../sessions/sessions.ts"
import { passwordWasRight, takePasswordAttempt } from "./password-attempts.ts"

export const queueFull = ({ retryAfterSeconds }: PasswordQueueFull) =>
  new Unavailable({ error: "The server is busy checking passwords. Try again later.", retryAfterSeconds })

/**
 * Returns the account that a request body identifies, or undefined if it identifies none. The email is normalised and
 * takes precedence over the alternate_id.
 */
export const accountName = (body: {
  readonly email?: string | null
  readonly alternate_id?: string | null
}): AccountName | undefined => {
  if (body.email) return nameByEmail(body.email)
  return body.alternate_id ? { alternateId: body.alternate_id } : undefined
}

/**
 * Opens a session with a password. An unknown user, an inactive user and a user without a password get the same error after the
 * same time as a wrong password.
 */
export const login = Effect.fnUntraced(function* (body: {
  readonly email?: string | null
  readonly alternate_id?: string | null
  readonly password: string
}) {
  const accounts = yield* Accounts
  const passwords = yield* Passwords
  const sessions = yield* Sessions

  const name = accountName(body)
  if (name === undefined) {
    return yield* new InvalidRequest({ error: "body: expected an email or an alternate_id" })
  }
  const account = yield* accounts.find(name)
  // An account has one count, whichever of its names the caller sends.
  const attempted = account?.id ?? accountKey(name)
  yield* takePasswordAttempt(attempted).pipe(
    Effect.tapErrorTag("TooManyRequests", () => recordEvent({ event: "login.locked", userId: account?.id })),
  )
  const hash = account?.active ? (account.password_hash ?? undefined) : undefined
  const isRight = yield* passwords
    .verify(hash, body.password)
    .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
  if (!isRight || account === undefined || hash === undefined) {
    yield* recordEvent({ event: "login.failed", userId: account?.id, details: { method: "password" } })
    return yield* new Unauthorized({ error: "Incorrect email or password." })
  }
  yield* passwordWasRight(attempted)
  if (passwords.needsRehash(hash)) {
    // This may fail, for example because the queue is full, or because an old password is too short for the current
    // rules. The login succeeds anyway.
    yield* passwords.hash(body.password).pipe(
      Effect.flatMap((fresh) => accounts.rehash(account.id, hash, fresh)),
      Effect.ignore,
    )
  }
  return yield* sessions.open(account, { method: "password" })
})
