import { Effect } from "effect"
import { dueCents } from "../../../machines/orders/money.ts"
import type { DisplayUser } from "../../../schema/accounts/user.ts"
import { Forbidden, Unprocessable } from "../../../schema/errors.ts"
import type { CheckoutCartRequest } from "../../../schema/orders/order.ts"
import { isReturnLink } from "../../../schema/web-link.ts"
import type { Principal } from "../../http/principal.ts"
import type { StoredOrder } from "../order-store.ts"

const issue = (code: string, message: string) => [{ code, message }]

export interface RequestedCheckout {
  readonly method: CheckoutCartRequest["method"]
  readonly orderId: string | undefined
  readonly wanted: string | undefined
}

/** Asked for again. What waits to be checked out for nothing was put there by a code, and cash is counted by itself. */
export const isRepeated = (
  { context, status }: StoredOrder,
  { method, orderId, wanted }: RequestedCheckout,
): boolean =>
  status === "PendingPayment" &&
  method !== "Free" &&
  method !== "Cash" &&
  context.checkout?.method === method &&
  (wanted === undefined || wanted === context.checkout.pubkey) &&
  dueCents(context) > 0 &&
  (orderId === undefined || context.id === orderId)

/** What can be said of a checkout before looking at the order. */
export const checkRequest = Effect.fnUntracedEager(function* (
  principal: Principal,
  request: CheckoutCartRequest,
) {
  const isCash = request.method === "Cash"
  if (isCash && !principal.scopes.has("adminCart:update")) {
    return yield* new Forbidden({
      error: "This needs the scope adminCart:update.",
      details: { scope: "adminCart:update" },
    })
  }
  const fields: Record<string, ReturnType<typeof issue>> = {}
  for (const name of ["amount", "external_reference"] as const) {
    if (!isCash && request[name] != null) fields[name] = issue("only_for_cash", "only with the method Cash")
  }
  for (const name of ["success_url", "cancel_url"] as const) {
    const given = request[name]
    if (given == null) {
      if (request.method === "CardCheckout") fields[name] = issue("required", "needed for CardCheckout")
    } else if (!isReturnLink(given)) fields[name] = issue("invalid_url", "expected an absolute URL")
  }
  if (Object.keys(fields).length > 0)
    return yield* new Unprocessable({ error: "The checkout cannot be done this way.", fields })
})

/** An id is bound to a key its buyer has shown to have. */
export const checkKey = (
  user: DisplayUser,
  wanted: string | null | undefined,
): Effect.Effect<string | undefined, Unprocessable> => {
  const key = wanted?.toLowerCase()
  return key === undefined || user.pubkeys.includes(key)
    ? Effect.succeed(key)
    : Effect.fail(
        new Unprocessable({
          error: "The pubkey is not one of yours. Add it first.",
          fields: { pubkey: issue("unknown", "not a key of this user") },
        }),
      )
}

/** A user known only by an alternate id has no address to confirm. */
export const checkEmail = (user: DisplayUser): Effect.Effect<void, Unprocessable> =>
  user.email_verified_at !== undefined || (user.email === undefined && user.alternate_id !== undefined)
    ? Effect.void
    : Effect.fail(
        new Unprocessable({
          error: "Confirm your email address before you buy.",
          fields: { email: issue("unconfirmed", "not confirmed") },
        }),
      )

export const tooLittle = (message: string) =>
  new Unprocessable({ error: message, fields: { method: issue("too_little", message) } })
