/** An account, identified by its id, its email or its alternate_id. */
export type AccountName =
  | { readonly id: string }
  | { readonly email: string }
  | { readonly alternateId: string }

/**
 * Returns the key under which the rate limits count the requests for an account. The prefix keeps an alternate_id
 * apart from an email with the same text.
 */
export const accountKey = (name: AccountName): string =>
  "id" in name ? name.id : "email" in name ? `email/${name.email}` : `alternate_id/${name.alternateId}`
