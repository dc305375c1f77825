import { Effect } from "effect"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { addressGroup } from "../../http/request/caller-address.ts"

/** An account whose password is tried, and the address of the caller who tries it. */
interface Attempt {
  /** The account's id, or the name that the caller sent if there is no such account. */
  readonly account: string
  readonly address: string
}

const pairOf = ({ account, address }: Attempt) => `${account}/${addressGroup(address)}`

/**
 * Counts an attempt at a password: first for the account together with the address, then for the account. An attempt
 * that exceeds the first budget is not counted for the account. So one address cannot use up the budget of the account
 * and lock out its owner.
 */
export const takePasswordAttempt = Effect.fnUntraced(function* (attempt: Attempt) {
  const limits = yield* RateLimits
  yield* limits.take("login", { pair: pairOf(attempt) })
  yield* limits.take("login", { account: attempt.account })
})

/**
 * Removes the count of the address after a right password. The account's count loses only this attempt. Otherwise each
 * login of the owner would give an attacker at other addresses a new budget.
 */
export const passwordWasRight = Effect.fnUntraced(function* (attempt: Attempt) {
  const limits = yield* RateLimits
  yield* limits.forgive("login", { pair: pairOf(attempt) })
  yield* limits.giveBack("login", { account: attempt.account })
})

/** Removes the counts of the account and of the caller's address, after the owner has set a new password. */
export const clearPasswordAttempts = (attempt: Attempt) =>
  RateLimits.use((limits) => limits.forgive("login", { pair: pairOf(attempt), account: attempt.account }))

/**
 * Counts an attempt at the current password by a caller who is already logged in. It is separate from the attempts to
 * log in, so that a stranger cannot prevent the owner from changing the password.
 */
export const takeCurrentPasswordAttempt = (userId: string) =>
  RateLimits.use((limits) => limits.take("login", { pair: `current_password/${userId}` }))

export const currentPasswordWasRight = (userId: string) =>
  RateLimits.use((limits) => limits.forgive("login", { pair: `current_password/${userId}` }))
