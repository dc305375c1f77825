import { Effect } from "effect"
import { organizationScopes, type Role, rolesUpTo, type Scope } from "../../schema/accounts/scope.ts"
import { Forbidden } from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"

const missing = (scope: Scope, where = ""): Forbidden =>
  new Forbidden({ error: `This operation requires the scope ${scope}${where}.`, details: { scope } })

/** Returns the scopes of a member with this role inside the organization. Returns an empty set without a role. */
export const scopesInOrganization = (role: Role | undefined): ReadonlySet<Scope> =>
  (role === undefined ? undefined : organizationScopes[role]) ?? new Set()

export const mayInOrganization = (principal: Principal, organizationId: string, scope: Scope): boolean =>
  principal.scopes.has(scope) ||
  ((principal.limitedTo?.has(scope) ?? principal.via === "session") &&
    scopesInOrganization(principal.organizations.get(organizationId.toLowerCase())).has(scope))

export const checkScope = (principal: Principal, scope: Scope): Effect.Effect<void, Forbidden> =>
  principal.scopes.has(scope) ? Effect.void : Effect.fail(missing(scope))

/**
 * Whether the caller may use this scope for the caller's own resources. An API key must have the scope. Other
 * credentials need no scope for this.
 */
export const mayAsOwner = (principal: Principal, scope: Scope): boolean =>
  principal.via !== "api_key" || principal.scopes.has(scope)

export const checkAsOwner = (principal: Principal, scope: Scope): Effect.Effect<void, Forbidden> =>
  mayAsOwner(principal, scope) ? Effect.void : Effect.fail(missing(scope))

/**
 * Checks access to the data of a user. With the scope `others`, callers may access the data of every user. Without it,
 * they may access only their own data, and they need the scope `own` if it is given.
 */
export const checkForUser = (
  principal: Principal,
  userId: string,
  needed: { readonly own?: Scope | true; readonly others: Scope },
): Effect.Effect<void, Forbidden> => {
  if (principal.scopes.has(needed.others)) return Effect.void
  if (principal.userId !== userId.toLowerCase()) return Effect.fail(missing(needed.others))
  return needed.own === undefined || needed.own === true ? Effect.void : checkScope(principal, needed.own)
}

/**
 * Checks access to an organization. The caller needs the scope globally, or by a role in the organization. A role
 * counts only for sessions, and for API keys that have the scope. The error does not reveal whether the organization
 * exists.
 */
export const checkInOrganization = (
  principal: Principal,
  organizationId: string,
  scope: Scope,
): Effect.Effect<void, Forbidden> =>
  mayInOrganization(principal, organizationId, scope)
    ? Effect.void
    : Effect.fail(missing(scope, " in this organization"))

/** Fails if the role is above the caller's own role. */
export const checkGrants = (principal: Principal, role: Role): Effect.Effect<void, Forbidden> =>
  rolesUpTo(principal.role).includes(role)
    ? Effect.void
    : Effect.fail(
        new Forbidden({ error: `You cannot manage the role ${role}, because it is above your own role.` }),
      )

interface Whose {
  readonly user_id?: string | null
  readonly organization_id?: string | null
}

/** The user or the organization whose items a request lists. */
export type Subject =
  | { readonly kind: "user"; readonly id: string }
  | { readonly kind: "organization"; readonly id: string }

export const subjectOf = (
  principal: Principal,
  whose: Whose,
  needed: { readonly own: Scope; readonly others: Scope; readonly organization: Scope },
): Effect.Effect<Subject, Forbidden> => {
  if (whose.user_id == null && whose.organization_id != null) {
    const subject: Subject = { kind: "organization", id: whose.organization_id }
    return Effect.as(checkInOrganization(principal, subject.id, needed.organization), subject)
  }
  const subject: Subject = { kind: "user", id: whose.user_id ?? principal.userId }
  return Effect.as(checkForUser(principal, subject.id, needed), subject)
}
