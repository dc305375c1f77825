import { Schema } from "effect"
import { Cents, Uuid } from "../wire-format.ts"

/** The most cents that can be granted: a thousand million dollars. */
const maxBudgetCents = 100_000_000_000

/** How many cents the codes of an organization may discount, and how many they have discounted. */
export const CodeBudget = Schema.Struct({
  organization_id: Uuid,
  budget_in_cents: Cents,
  used_in_cents: Cents,
  /** Zero if more than the budget is used, because the budget was lowered. */
  remaining_in_cents: Cents,
}).annotate({ identifier: "CodeBudget" })
export type CodeBudget = typeof CodeBudget.Type

export const SetCodeBudget = Schema.Struct({
  budget_in_cents: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxBudgetCents })),
}).annotate({ identifier: "SetCodeBudget" })
