import { Context, Effect, Layer } from "effect"
import { NotFound, type Unavailable } from "../../schema/errors.ts"
import type { CodeBudget } from "../../schema/organizations/code-budget.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import type { WrittenView } from "./written-view.ts"

const shown = (q: Client, organizationId: SqlPiece) => q`
  jsonb_build_object('organization_id', ${organizationId}, 'budget_in_cents', coalesce(b.granted_cents, 0),
                     'used_in_cents', coalesce(b.used_cents, 0),
                     'remaining_in_cents', greatest(0, coalesce(b.granted_cents - b.used_cents, 0))) as view`

/**
 * The budgets that the operator grants to organizations for the discounts of their codes. The turns of orders charge
 * the budgets and give back what a cancelled order charged (`put_code_uses`).
 */
export class CodeBudgets extends Context.Service<
  CodeBudgets,
  {
    get(organizationId: string): Effect.Effect<CodeBudget, NotFound | Unavailable>
    /**
     * Sets the total budget. It may be lower than what is already used: then the organization's codes give no discount
     * until the budget is raised or enough is given back.
     */
    set(organizationId: string, cents: number): Effect.Effect<WrittenView<CodeBudget>, NotFound | Unavailable>
  }
>()("directory/CodeBudgets") {
  static readonly layer = Layer.effect(
    CodeBudgets,
    Effect.gen(function* () {
      const sql = yield* Sql
      const notFound = () => new NotFound({ error: "Organization not found. Check the id." })

      return CodeBudgets.of({
        get: Effect.fnUntraced(function* (organizationId) {
          const [row] = yield* sql.rows<{ view: CodeBudget }>(
            (q) => q`select ${shown(q, q`o.id`)}
                       from organization o left join code_budget b on b.organization_id = o.id
                      where o.id = ${organizationId}`,
          )
          return row?.view ?? (yield* notFound())
        }),
        set: Effect.fnUntraced(function* (organizationId, cents) {
          const set = yield* sql.write.rows<{ view: CodeBudget }>(
            (q) => q`insert into code_budget as b (organization_id, granted_cents)
                     select id, ${cents} from organization where id = ${organizationId} for key share
                     on conflict (organization_id)
                       do update set granted_cents = excluded.granted_cents, updated_at = now()
                     returning ${shown(q, q`b.organization_id`)}`,
          )
          return set.outcome.rows.length > 0 ? set : yield* notFound()
        }),
      })
    }),
  )
}
