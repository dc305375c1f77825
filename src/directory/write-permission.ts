import { mayAsOwner, mayInOrganization } from "../accounts/permissions.ts"
import type { Principal } from "../http/principal.ts"

/** Who wants to change an id, and by what right besides owning it. */
export interface WritePermission {
  readonly userId: string
  /** Organizations whose keys' ids this caller may write to. */
  readonly organizations: ReadonlyArray<string>
  readonly isAdmin: boolean
  /** May write what its owner has locked. */
  readonly mayUnlock: boolean
}

const powerOrganizations = (principal: Principal): ReadonlyArray<string> =>
  [...principal.organizations.keys()].filter((id) =>
    mayInOrganization(principal, id, "organizationEmoji:write"),
  )

/** Owns nothing: for a key that may not change what its user owns. */
const nobody = "00000000-0000-0000-0000-000000000000"

export const writePermissionOf = (principal: Principal): WritePermission => ({
  userId: mayAsOwner(principal, "userData:update") ? principal.userId : nobody,
  organizations: powerOrganizations(principal),
  isAdmin: principal.scopes.has("adminEmoji:write"),
  mayUnlock: principal.scopes.has("adminEmoji:updateSecureData"),
})
