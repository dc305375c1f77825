import { Effect } from "effect"
import { Forbidden } from "../../schema/errors.ts"
import { checkRecentCode } from "../accounts/sessions/recent-code.ts"
import type { Principal } from "../http/principal.ts"
import { Organizations } from "./organization-store.ts"

/**
 * Returns the link that a request sets, or null if the request does not change the link. Whoever sets the link
 * receives the refresh tokens of the partner's users, so only the operator may change it: the scope organization:admin
 * must be global, and users with two-factor login need a recent code.
 */
export const permitLinkChange = Effect.fnUntraced(function* (
  principal: Principal,
  organizationId: string,
  given: string | null | undefined,
) {
  if (given == null) return null
  const { return_link = "" } = yield* Organizations.use((organizations) => organizations.get(organizationId))
  if (given === return_link) return null
  if (!principal.scopes.has("organization:admin"))
    return yield* new Forbidden({
      error:
        "Only the operator can change return_link. Leave it out or unchanged, and ask the operator to change it.",
      details: { scope: "organization:admin" },
    })
  yield* checkRecentCode(principal)
  return given
})
