import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { NotFound } from "../../schema/errors.ts"
import { CodeBudget, SetCodeBudget } from "../../schema/organizations/code-budget.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { checkInOrganization } from "../accounts/permissions.ts"
import { inOrganization, route } from "../http/route.ts"
import { CodeBudgets } from "./code-budget-store.ts"
import { viewOf } from "./written-view.ts"

const shared = {
  group: "organizations",
  path: "/organizations/:id/code_budget",
  auth: "JWT",
  params: { id: Uuid },
  success: CodeBudget,
} as const

const show = route({
  ...shared,
  id: "getCodeBudget",
  summary: "Show the code budget of an organization",
  description:
    "How many cents the codes of the organization may still discount. Requires organizationCode:admin in the organization.",
  method: "get",
  access: inOrganization("organizationCode:admin"),
  errors: [NotFound],
  handler: ({ params, principal }) =>
    checkInOrganization(principal, params.id, "organizationCode:admin").pipe(
      Effect.andThen(CodeBudgets.use((budgets) => budgets.get(params.id))),
    ),
})

const set = route({
  ...shared,
  id: "setCodeBudget",
  summary: "Set the code budget of an organization",
  description:
    "For the operator: how many cents its codes may discount in total. A use that exceeds the budget answers 422 `eligibility`.",
  method: "put",
  // Owners have this scope only inside their organization, so only the operator can grant a budget.
  scope: "organization:admin",
  sensitive: true,
  limit: "write",
  body: SetCodeBudget,
  errors: [NotFound],
  handler: ({ body, params, principal }) =>
    atMostOnce(CodeBudgets.use((budgets) => budgets.set(params.id, body.budget_in_cents))).pipe(
      Effect.map(viewOf),
      Effect.tap(({ budget_in_cents }) =>
        Effect.logInfo("code budget set", { organization: params.id, budget_in_cents, by: principal.userId }),
      ),
    ),
})

export const codeBudgets = [show, set] as const
