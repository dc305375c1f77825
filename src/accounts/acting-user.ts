import { Effect } from "effect"
import { rolesUpTo, type Scope } from "../../schema/accounts/scope.ts"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"
import { CallerCache } from "./caller-cache.ts"
import { checkForUser } from "./permissions.ts"

/**
 * Finds the user for whom the caller acts. If this is another user, the caller needs the scope `others`, and that
 * user's role must not be above the caller's.
 */
export const findActingUser = Effect.fnUntraced(function* (
  principal: Principal,
  userId: string,
  others: Scope,
) {
  if (userId.toLowerCase() === principal.userId) return { ...principal, id: principal.userId }
  yield* checkForUser(principal, userId, { others })
  const found = yield* CallerCache.use((callers) => callers.find(userId.toLowerCase()))
  if (found === undefined) return yield* new NotFound({ error: "User not found." })
  if (!rolesUpTo(principal.role).includes(found.role)) {
    return yield* new Forbidden({
      error: `You cannot act for a user with the role ${found.role}, because it is above your own role.`,
    })
  }
  return found
})
