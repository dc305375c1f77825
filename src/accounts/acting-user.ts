import { Effect } from "effect"
import { rolesUpTo, type Scope } from "../../schema/accounts/scope.ts"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"
import { CallerCache } from "./caller-cache.ts"
import { checkForUser } from "./permissions.ts"

/** Who the caller acts for: oneself, or somebody not above the caller's own role with this scope. */
export const findActingUser = Effect.fnUntraced(function* (
  principal: Principal,
  userId: string,
  others: Scope,
) {
  if (userId.toLowerCase() === principal.userId) return { ...principal, id: principal.userId }
  yield* checkForUser(principal, userId, { others })
  const found = yield* CallerCache.use((callers) => callers.find(userId.toLowerCase()))
  if (found === undefined) return yield* new NotFound({ error: "There is no such user." })
  if (!rolesUpTo(principal.role).includes(found.role)) {
    return yield* new Forbidden({ error: `A user of the role ${found.role} is above your own role.` })
  }
  return found
})
