/** The ways a client names an account. */
export type AccountName =
  | { readonly id: string }
  | { readonly email: string }
  | { readonly alternateId: string }

/** The key an account's rate limits are counted under. An alternate_id may look like an email, so the kind is part of it. */
export const accountKey = (name: AccountName): string =>
  "id" in name ? name.id : "email" in name ? `email/${name.email}` : `alternate_id/${name.alternateId}`
