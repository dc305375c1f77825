import { Effect } from "effect"
import { organizationScopes, type Role, rolesUpTo, type Scope } from "../../schema/accounts/scope.ts"
import { Forbidden } from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"

/** May this caller act for that user, in that organization, on users of that role? Asked here and nowhere else. */

const missing = (scope: Scope, where = ""): Forbidden =>
  new Forbidden({ error: `This needs the scope ${scope}${where}.`, details: { scope } })

/** What a member of this role may do inside the organization. */
export const scopesInOrganization = (role: Role | undefined): ReadonlySet<Scope> =>
  (role === undefined ? undefined : organizationScopes[role]) ?? new Set()

export const mayInOrganization = (principal: Principal, organizationId: string, scope: Scope): boolean =>
  principal.scopes.has(scope) ||
  ((principal.limitedTo?.has(scope) ?? principal.via === "session") &&
    scopesInOrganization(principal.organizations.get(organizationId.toLowerCase())).has(scope))

export const checkScope = (principal: Principal, scope: Scope): Effect.Effect<void, Forbidden> =>
  principal.scopes.has(scope) ? Effect.void : Effect.fail(missing(scope))

/** A login may do this with what is its user's own; a key only with the scope. */
export const mayAsOwner = (principal: Principal, scope: Scope): boolean =>
  principal.via !== "api_key" || principal.scopes.has(scope)

export const checkAsOwner = (principal: Principal, scope: Scope): Effect.Effect<void, Forbidden> =>
  mayAsOwner(principal, scope) ? Effect.void : Effect.fail(missing(scope))

/** Oneself (with `own`, where the operation names a scope for that), or anybody with `others`. */
export const checkForUser = (
  principal: Principal,
  userId: string,
  needed: { readonly own?: Scope; readonly others: Scope },
): Effect.Effect<void, Forbidden> => {
  if (principal.scopes.has(needed.others)) return Effect.void
  if (principal.userId !== userId.toLowerCase()) return Effect.fail(missing(needed.others))
  return needed.own === undefined ? Effect.void : checkScope(principal, needed.own)
}

/** By a scope the caller has everywhere or by the role held in this organization. Says nothing of its existence. */
export const checkInOrganization = (
  principal: Principal,
  organizationId: string,
  scope: Scope,
): Effect.Effect<void, Forbidden> =>
  mayInOrganization(principal, organizationId, scope)
    ? Effect.void
    : Effect.fail(missing(scope, " in this organization"))

/** Nobody grants a role above their own. */
export const checkGrants = (principal: Principal, role: Role): Effect.Effect<void, Forbidden> =>
  rolesUpTo(principal.role).includes(role)
    ? Effect.void
    : Effect.fail(new Forbidden({ error: `The role ${role} is above your own.` }))

interface Whose {
  readonly user_id?: string | null
  readonly organization_id?: string | null
}

/** Whose things a list is about: the caller's, a user's (administrators), an organization's (its power roles). */
export type Subject =
  | { readonly kind: "user"; readonly id: string }
  | { readonly kind: "organization"; readonly id: string }

export const subjectOf = (
  principal: Principal,
  whose: Whose,
  needed: { readonly own: Scope; readonly user: Scope; readonly organization: Scope },
): Effect.Effect<Subject, Forbidden> => {
  if (whose.user_id == null && whose.organization_id != null) {
    const subject: Subject = { kind: "organization", id: whose.organization_id }
    return Effect.as(checkInOrganization(principal, subject.id, needed.organization), subject)
  }
  const subject: Subject = { kind: "user", id: whose.user_id ?? principal.userId }
  return Effect.as(checkForUser(principal, subject.id, { own: needed.own, others: needed.user }), subject)
}
