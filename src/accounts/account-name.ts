/** An account, identified by its id, its email or its alternate_id. */
export type AccountName =
  | { readonly id: string }
  | { readonly email: string }
  | { readonly alternateId: string }

/** The key for an account's rate limits. It includes the kind, because an alternate_id may look like an email. */
export const accountKey = (name: AccountName): string =>
  "id" in name ? name.id : "email" in name ? `email/${name.email}` : `alternate_id/${name.alternateId}`
