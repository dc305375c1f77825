import { Effect } from "effect"
import { Unprocessable } from "../../../schema/errors.ts"
import type { Code } from "../../../schema/orders/code.ts"

export const refuseCode = (code: string, message: string) =>
  new Unprocessable({ error: message, fields: { code: [{ code, message }] } })

/**
 * Checks the type, dates and uses of a code. A concurrent use can still exceed a limit; the commit then refuses it.
 */
export const checkUsable = (code: Code, type: Code["code_type"], now: number) =>
  Effect.gen(function* () {
    if (code.deleted_at !== null) return yield* refuseCode("unknown", "Unknown code. Check the spelling.")
    if (code.code_type !== type)
      return yield* refuseCode(
        "wrong_type",
        type === "Discount" ? "This is not a discount code." : "This is not a random id code.",
      )
    if (code.start_date !== null && now < Date.parse(code.start_date))
      return yield* refuseCode("not_started", "The code is not valid yet.")
    if (code.end_date !== null && now >= Date.parse(code.end_date))
      return yield* refuseCode("ended", "The code has expired.")
    if (code.max_uses !== null && code.uses >= code.max_uses)
      return yield* refuseCode("used_up", "The code has no uses left.")
  })

/** The limit that a commit reports if the budget of the code's organization does not cover the discount. */
export const budgetLimit = "code_budget"

export const usedUp = (limit: string): Unprocessable => {
  if (limit === "code_uses_per_user")
    return refuseCode("used_up_by_user", "You have reached the limit of uses of this code per user.")
  if (limit === budgetLimit)
    return refuseCode(
      "eligibility",
      "The organization that issued this code has no budget left for this discount. Contact the organization.",
    )
  return refuseCode("used_up", "The code has no uses left.")
}

/**
 * Checks where a code is used. A code of an organization discounts only orders that were started on the organization's
 * partner pages, or that an activation signed by a key of the code created. Otherwise the organization could give free
 * ids to everyone. `isSigned` says that such an activation was checked.
 */
export const checkOrigin = (
  { organization_id }: Code,
  from: { readonly organizationId: string | undefined } | { readonly isSigned: boolean },
): Effect.Effect<void, Unprocessable> => {
  const isAllowed =
    organization_id === null || ("isSigned" in from ? from.isSigned : from.organizationId === organization_id)
  return isAllowed
    ? Effect.void
    : Effect.fail(
        refuseCode(
          "eligibility",
          "isSigned" in from
            ? "Random id codes of an organization work only with a signature by one of the code's keys. This code has none."
            : "This code works only for orders that are started on the page of the organization that issued it.",
        ),
      )
}
