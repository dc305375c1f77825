import { Effect, Redacted } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { Accounts } from "./account-store.ts"
import { CallerCache } from "./caller-cache.ts"
import { Passwords } from "./passwords.ts"

/**
 * Creates or updates the configured admin, so that the account is active and has a confirmed email and the configured
 * password. Every process may run this at startup. A password that already matches is not changed, because a change
 * would end the admin's sessions.
 */
export const ensureAdmin = Effect.gen(function* () {
  const { adminEmail, adminPassword } = yield* AppConfig
  if (adminEmail === undefined || adminPassword === undefined) return
  const accounts = yield* Accounts
  const passwords = yield* Passwords
  const callers = yield* CallerCache
  const email = adminEmail.toLowerCase()
  const password = Redacted.value(adminPassword)

  const before = yield* accounts.find({ email })
  const stored = before?.password_hash ?? null
  const isCurrent = stored !== null && (yield* passwords.verify(stored, password))
  const wanted = isCurrent ? stored : yield* passwords.hash(password)
  const put = accounts.putAdmin(email, { storedHash: stored, wantedHash: wanted })
  // A user that does not exist yet is not cached.
  yield* before === undefined ? put : callers.invalidating(before.id)(put)
}).pipe(
  Effect.catchTags({
    // Neither error can happen. The queue is not full, because nothing else is hashed during startup. The password is
    // acceptable, because it was validated with the settings.
    PasswordQueueFull: (failure) => Effect.die(failure),
    PasswordUnacceptable: (failure) => Effect.die(failure),
  }),
)
