import { Layer } from "effect"
import { CodeBudgets } from "./code-budget-store.ts"
import { Members } from "./member-store.ts"
import { OrganizationKeys } from "./organization-key-store.ts"
import { Organizations } from "./organization-store.ts"

/** The services of this folder: organizations, their members, their keys and the budgets of their codes. */
export const organizations = Layer.mergeAll(
  CodeBudgets.layer,
  Members.layer,
  OrganizationKeys.layer,
  Organizations.layer,
)
