/** The page to which the demo partner sends users back. A real partner has such a page in its wallet. */
export const partnerReturnPath = "/demo/partner"
/** What the codes of the demo partner may discount, in cents. The owner can then create codes and try them. */
export const demoBudgetCents = 10_000
