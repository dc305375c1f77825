import { Effect } from "effect"
import {
  scopes as allScopes,
  isKeyScope,
  type Role,
  roleScopes,
  type Scope,
} from "../../../schema/accounts/scope.ts"
import { Forbidden } from "../../../schema/errors.ts"
import type { Principal } from "../../http/principal.ts"
import { scopesInOrganization } from "../permissions.ts"

interface Holder {
  readonly role: Role
  readonly organizations: ReadonlyMap<string, Role>
}

const holds = ({ organizations, role }: Holder, scope: Scope): boolean =>
  roleScopes[role].has(scope) ||
  [...organizations.values()].some((inside) => scopesInOrganization(inside).has(scope))

/**
 * Returns the scopes of a new key: the requested scopes, or all allowed scopes if the request has no list of scopes.
 * Fails if a requested scope is not allowed. A key can have only scopes that both its creator and its user have. A key of an administrator can also have
 * adminUser:bypass2fa, but only if it is requested. The scopes are stored, so that a later promotion of the user does
 * not extend existing keys.
 */
export const apiKeyScopes = (
  creator: Principal,
  holder: Holder,
  requested: ReadonlyArray<Scope> | null | undefined,
): Effect.Effect<ReadonlyArray<Scope>, Forbidden> => {
  const grantable = allScopes.filter((scope) => holds(creator, scope) && holds(holder, scope))
  if (requested == null) return Effect.succeed(grantable)
  const missing = requested.find(
    (scope) =>
      !grantable.includes(scope) && !(isKeyScope(creator.role, scope) && isKeyScope(holder.role, scope)),
  )
  return missing === undefined
    ? Effect.succeed(allScopes.filter((scope) => requested.includes(scope)))
    : Effect.fail(
        new Forbidden({
          error: `The key cannot have the scope ${missing}, because its creator or its user does not have it.`,
          details: { scope: missing },
        }),
      )
}
