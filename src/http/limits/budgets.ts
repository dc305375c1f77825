import type { LimitName } from "../route.ts"

export interface Budget {
  readonly requests: number
  readonly seconds: number
}

/**
 * The kinds of subjects against which a request is counted: its address, the account that it tries to use, this account
 * together with the address (`pair`), and the authenticated caller.
 */
export type Subject = "address" | "account" | "pair" | "caller"

/**
 * The budgets of each rate limit. The limits for logins, codes and mail are exact and shared by all processes (`shared`). The
 * other limits only prevent one caller from using up the capacity; each process counts them by itself, without a
 * query. Many users may share an address, so the budgets of an address are large. The budgets of an account are
 * small, because an attacker guesses the secrets of one account. For passwords, the budget of an account is larger than
 * that of a pair: otherwise one address could use it up and lock out the owner, who logs in from another address.
 */
export const budgets: Record<LimitName, Partial<Record<Subject, Budget>> & { readonly shared: boolean }> = {
  login: {
    shared: true,
    address: { requests: 300, seconds: 60 },
    pair: { requests: 20, seconds: 900 },
    account: { requests: 200, seconds: 900 },
  },
  mail: {
    shared: true,
    address: { requests: 120, seconds: 60 },
    account: { requests: 10, seconds: 600 },
    caller: { requests: 60, seconds: 600 },
  },
  code: {
    shared: true,
    address: { requests: 120, seconds: 60 },
    account: { requests: 10, seconds: 900 },
    caller: { requests: 60, seconds: 600 },
  },
  write: { shared: false, address: { requests: 600, seconds: 60 }, caller: { requests: 1200, seconds: 60 } },
  read: {
    shared: false,
    address: { requests: 6000, seconds: 60 },
    caller: { requests: 12_000, seconds: 60 },
  },
}

/**
 * The limits that are checked while a request runs, and not by the route row.
 * - `unknown_path`: requests for paths that do not exist.
 * - `lookup`: lookups that are not in the cache, so they need a query. Its budgets depend on COLD_LOOKUPS_PER_MINUTE.
 * - `credentials`: credentials that are checked because the address has no lookups left.
 */
export type LocalLimit = "unknown_path" | "lookup" | "credentials"

export const localBudgets = (lookups: number): Record<LocalLimit, Partial<Record<Subject, Budget>>> => ({
  unknown_path: { address: { requests: 1200, seconds: 60 } },
  lookup: { address: { requests: lookups, seconds: 60 }, caller: { requests: 2 * lookups, seconds: 60 } },
  credentials: { address: { requests: 600, seconds: 60 } },
})
