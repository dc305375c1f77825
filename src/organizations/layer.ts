import { Layer } from "effect"
import { CodeBudgets } from "./code-budget-store.ts"
import { Members } from "./member-store.ts"
import { OrganizationKeys } from "./organization-key-store.ts"
import { Organizations } from "./organization-store.ts"
import { warnOfUntrustedLinks } from "./return-link-store.ts"

/** The services of this folder: organizations, their members, their keys and the budgets of their codes. */
export const organizations = Layer.mergeAll(
  CodeBudgets.layer,
  Members.layer,
  OrganizationKeys.layer,
  Organizations.layer,
)

/** Warns at startup about return links that get no refresh tokens. */
export const returnLinkWarnings = Layer.effectDiscard(warnOfUntrustedLinks)
