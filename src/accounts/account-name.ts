import { normalizeEmail } from "../../schema/accounts/credential-rules.ts"

/**
 * An account, identified by its id, its email or its alternate_id. `spelling` is the email as the user wrote it, if it
 * differs from the form in which emails are stored. Accounts that were registered before emails were normalised are
 * found by it.
 */
export type AccountName =
  | { readonly id: string }
  | { readonly email: string; readonly spelling?: string }
  | { readonly alternateId: string }

/** Returns the account with this email, as a user wrote it. */
export const nameByEmail = (typed: string): AccountName => {
  const email = normalizeEmail(typed)
  const spelling = typed.trim().toLowerCase()
  return spelling === email ? { email } : { email, spelling }
}

/**
 * Returns the key under which the rate limits count the requests for an account. The prefix keeps an alternate_id
 * apart from an email with the same text.
 */
export const accountKey = (name: AccountName): string =>
  "id" in name ? name.id : "email" in name ? `email/${name.email}` : `alternate_id/${name.alternateId}`
