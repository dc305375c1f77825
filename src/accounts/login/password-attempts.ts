import { Effect } from "effect"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { addressGroup } from "../../http/request/caller-address.ts"
import { RequestOrigin } from "../../http/request/request-origin.ts"

// In this file, `account` is the id of the account whose password is tried. If there is no such account, it is the name
// that the caller sent.

/** Returns the key that counts the account together with the address of the caller. */
const pairOf = (account: string) =>
  Effect.gen(function* () {
    return `${account}/${addressGroup((yield* RequestOrigin).address)}`
  })

/**
 * Counts an attempt at a password: first for the account together with the address, then for the account. An attempt
 * that exceeds the first budget is not counted for the account. So one address cannot use up the budget of the account
 * and lock out its owner.
 */
export const takePasswordAttempt = Effect.fnUntraced(function* (account: string) {
  const limits = yield* RateLimits
  yield* limits.take("login", { pair: yield* pairOf(account) })
  yield* limits.take("login", { account })
})

/**
 * Removes the count of the address after a right password. The account's count loses only this attempt. Otherwise each
 * login of the owner would give an attacker at other addresses a new budget.
 */
export const passwordWasRight = Effect.fnUntraced(function* (account: string) {
  const limits = yield* RateLimits
  yield* limits.forgive("login", { pair: yield* pairOf(account) })
  yield* limits.giveBack("login", { account })
})

/** Removes the counts of the account and of the caller's address, after the owner has set a new password. */
export const clearPasswordAttempts = Effect.fnUntraced(function* (account: string) {
  const limits = yield* RateLimits
  yield* limits.forgive("login", { pair: yield* pairOf(account), account })
})

/**
 * Counts an attempt at the current password by a caller who is already logged in. It is separate from the attempts to
 * log in, so that a stranger cannot prevent the owner from changing the password.
 */
export const takeCurrentPasswordAttempt = (userId: string) =>
  RateLimits.use((limits) => limits.take("login", { pair: `current_password/${userId}` }))

export const currentPasswordWasRight = (userId: string) =>
  RateLimits.use((limits) => limits.forgive("login", { pair: `current_password/${userId}` }))
