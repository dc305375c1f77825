import { Forbidden } from "../../schema/errors.ts"
import type { Principal } from "./principal.ts"
import type { Route } from "./route.ts"

/** Returns the reason why the caller may not call the operation. Undefined if the caller may. */
export const checkAllowed = (route: Route, principal: Principal | null): Forbidden | undefined => {
  if (principal === null) return undefined
  if (principal.via === "oauth" && !route.oauth) {
    return new Forbidden({
      error:
        "Tokens of the authorization-code flow cannot call this operation. Use a sign-in session or an API key.",
    })
  }
  if (route.scope !== undefined && !principal.scopes.has(route.scope)) {
    return new Forbidden({
      error: `This operation requires the scope ${route.scope}.`,
      details: { scope: route.scope },
    })
  }
  if (route.sessionOnly && principal.via !== "session") {
    return new Forbidden({
      error: "This operation requires the access token of a sign-in session, not an API key.",
    })
  }
  if (route.sensitive && principal.via === "api_key" && !principal.keyIsSensitive) {
    return new Forbidden({
      error:
        "This API key cannot do sensitive operations. Use a sign-in session, or create a key with `sensitive: true`: " +
        "POST /api_keys. Enabling two-factor authentication removes sensitive operations from existing keys.",
      details: { sensitive: true },
    })
  }
  return undefined
}
