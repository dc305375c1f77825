import { Effect } from "effect"
import { AccountResponseCache } from "../accounts/account-response-cache.ts"
import { Sql } from "../postgres/sql.ts"
import type { VisitState } from "./visits.ts"

/**
 * Stores the ids that the partner sent for this user in its link. The newest id replaces an older one. Runs no query if
 * the link has none.
 */
export const storePartnerIds = Effect.fnUntraced(function* (
  userId: string,
  { conversionId, transactionId }: Pick<VisitState, "conversionId" | "transactionId">,
) {
  if (conversionId === undefined && transactionId === undefined) return
  const responses = yield* AccountResponseCache
  yield* Sql.use((sql) =>
    sql.rows(
      (q) => q`update app_user
                  set partner_conversion_id = coalesce(${conversionId ?? null}, partner_conversion_id),
                      partner_transaction_id = coalesce(${transactionId ?? null}, partner_transaction_id),
                      updated_at = now()
                where id = ${userId} and deleted_at is null
                  and (partner_conversion_id, partner_transaction_id) is distinct from
                      (coalesce(${conversionId ?? null}, partner_conversion_id),
                       coalesce(${transactionId ?? null}, partner_transaction_id))
               returning 1`,
    ),
  ).pipe(responses.invalidating(userId))
})
