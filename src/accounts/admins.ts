import { Effect, Redacted } from "effect"
import { AppConfig } from "../config/config.ts"
import { Accounts } from "./account-store.ts"
import { CallerCache } from "./caller-cache.ts"
import { Passwords } from "./passwords.ts"

/**
 * The admin of the configuration exists: confirmed, active, with the configured password. Every process may run this at
 * its start; a password that is already the configured one is left alone, so nobody is logged out by a restart.
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
  const isKept = stored !== null && (yield* passwords.verify(stored, password))
  const wanted = isKept ? stored : yield* passwords.hash(password)
  yield* accounts.putAdmin(email, { storedHash: stored, wantedHash: wanted })
  const after = yield* accounts.find({ email })
  if (after !== undefined) yield* callers.changed(after.id)
  if (before !== undefined && before.id !== after?.id) yield* callers.changed(before.id)
}).pipe(
  Effect.catchTags({
    // At a start nothing else hashes yet; a password the settings took is one the hash takes.
    PasswordQueueFull: (failure) => Effect.die(failure),
    PasswordUnacceptable: (failure) => Effect.die(failure),
  }),
)
