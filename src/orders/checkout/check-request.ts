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
  readonly requestedKey: string | undefined
}

/**
 * Whether the order is already pending payment with the requested checkout. False if nothing is due. False for Free and
 * Cash, because a second checkout with these methods pays the pending order.
 */
export const isRepeated = (
  { context, status }: StoredOrder,
  { method, orderId, requestedKey }: RequestedCheckout,
): boolean =>
  status === "PendingPayment" &&
  method !== "Free" &&
  method !== "Cash" &&
  context.checkout?.method === method &&
  (requestedKey === undefined || requestedKey === context.checkout.pubkey) &&
  dueCents(context) > 0 &&
  (orderId === undefined || context.id === orderId)

/** Checks the parts of a checkout request that do not depend on the order. */
export const checkRequest = Effect.fnUntracedEager(function* (
  principal: Principal,
  request: CheckoutCartRequest,
) {
  const isCash = request.method === "Cash"
  if (isCash && !principal.scopes.has("adminCart:update")) {
    return yield* new Forbidden({
      error: "The payment method Cash requires the scope adminCart:update.",
      details: { scope: "adminCart:update" },
    })
  }
  const fields: Record<string, ReturnType<typeof issue>> = {}
  for (const name of ["amount", "external_reference"] as const) {
    if (!isCash && request[name] != null)
      fields[name] = issue("only_for_cash", "Allowed only with the method Cash.")
  }
  for (const name of ["success_url", "cancel_url"] as const) {
    const given = request[name]
    if (given == null) {
      if (request.method === "CardCheckout")
        fields[name] = issue("required", "Required for the method CardCheckout.")
    } else if (!isReturnLink(given))
      fields[name] = issue("invalid_url", "Expected an absolute http or https URL.")
  }
  if (Object.keys(fields).length > 0)
    return yield* new Unprocessable({
      error: "The checkout request is not valid. See the fields for details.",
      fields,
    })
})

/**
 * Returns the requested key in lower case, or undefined if no key is requested. Fails if it is not a key of the buyer.
 */
export const checkKey = (
  user: DisplayUser,
  wanted: string | null | undefined,
): Effect.Effect<string | undefined, Unprocessable> => {
  const key = wanted?.toLowerCase()
  return key === undefined || user.pubkeys.includes(key)
    ? Effect.succeed(key)
    : Effect.fail(
        new Unprocessable({
          error: "This pubkey is not one of your keys. Add the key to your account first.",
          fields: { pubkey: issue("unknown", "Not a key of this user.") },
        }),
      )
}

/** Requires a confirmed email address. A user who has an alternate_id and no email address needs none. */
export const checkEmail = (user: DisplayUser): Effect.Effect<void, Unprocessable> =>
  user.email_verified_at !== undefined || (user.email === undefined && user.alternate_id !== undefined)
    ? Effect.void
    : Effect.fail(
        new Unprocessable({
          error: "Confirm your email address before you buy.",
          fields: { email: issue("unconfirmed", "The email address is not confirmed.") },
        }),
      )

export const tooLittle = (message: string) =>
  new Unprocessable({ error: message, fields: { method: issue("too_little", message) } })
