import { Effect } from "effect"
import { scopes as allScopes, type Role, roleScopes, type Scope } from "../../../schema/accounts/scope.ts"
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
 * The scopes a new key gets: those asked for, or all. A key is never wider than whoever makes it, nor than the user it
 * acts for. They are written down, so that a later promotion does not widen a key that is lying somewhere.
 */
export const apiKeyScopes = (
  maker: Principal,
  holder: Holder,
  asked: ReadonlyArray<Scope> | null | undefined,
): Effect.Effect<ReadonlyArray<Scope>, Forbidden> => {
  const grantable = allScopes.filter((scope) => holds(maker, scope) && holds(holder, scope))
  if (asked == null) return Effect.succeed(grantable)
  const wider = asked.find((scope) => !grantable.includes(scope))
  return wider === undefined
    ? Effect.succeed(allScopes.filter((scope) => asked.includes(scope)))
    : Effect.fail(
        new Forbidden({
          error: `A key cannot have the scope ${wider}: its maker or its user lacks it.`,
          details: { scope: wider },
        }),
      )
}
