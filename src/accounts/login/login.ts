import { Effect } from "effect"
import { InvalidRequest, Unauthorized, Unavailable } from "../../../schema/errors.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { type AccountName, accountKey } from "../account-name.ts"
import { Accounts } from "../account-store.ts"
import { type PasswordQueueFull, Passwords } from "../passwords.ts"
import { Sessions } from "../sessions/sessions.ts"

export const queueFull = ({ retryAfterSeconds }: PasswordQueueFull) =>
  new Unavailable({ error: "Too many passwords are being checked. Try again.", retryAfterSeconds })

/** Whom a body names. The email goes first, in the spelling it is kept under. */
export const accountName = (body: {
  readonly email?: string | null
  readonly alternate_id?: string | null
}): AccountName | undefined => {
  if (body.email) return { email: body.email.trim().toLowerCase() }
  return body.alternate_id ? { alternateId: body.alternate_id } : undefined
}

/** Login by password. Whoever does not exist, is not active or has no password costs and says the same as a wrong one. */
export const login = Effect.fnUntraced(function* (body: {
  readonly email?: string | null
  readonly alternate_id?: string | null
  readonly password: string
}) {
  const accounts = yield* Accounts
  const passwords = yield* Passwords
  const limits = yield* RateLimits
  const sessions = yield* Sessions

  const name = accountName(body)
  if (name === undefined) {
    return yield* new InvalidRequest({ error: "body: expected an email or an alternate_id" })
  }
  const limited = accountKey(name)
  yield* limits.take("login", { account: limited })
  const account = yield* accounts.find(name)
  const hash = account?.active ? (account.password_hash ?? undefined) : undefined
  const isRight = yield* passwords
    .verify(hash, body.password)
    .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
  if (!isRight || account === undefined || hash === undefined) {
    return yield* new Unauthorized({ error: "The name or the password is wrong." })
  }
  yield* limits.forgive("login", limited)
  if (passwords.needsRehash(hash)) {
    // The login is good either way; a full queue or an old, shorter password is no reason to refuse it.
    yield* passwords.hash(body.password).pipe(
      Effect.flatMap((fresh) => accounts.rehash(account.id, hash, fresh)),
      Effect.ignore,
    )
  }
  return yield* sessions.open(account)
})
