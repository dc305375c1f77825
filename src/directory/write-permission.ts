import { mayAsOwner, mayInOrganization } from "../accounts/permissions.ts"
import type { Principal } from "../http/principal.ts"

/** The rights of a caller who wants to change an id. */
export interface WritePermission {
  readonly userId: string
  /** The caller may write to ids that are owned by keys of these organizations. */
  readonly organizations: ReadonlyArray<string>
  readonly isAdmin: boolean
  /** Whether the caller may write to locked entries. */
  readonly mayUnlock: boolean
}

const powerOrganizations = (principal: Principal): ReadonlyArray<string> =>
  [...principal.organizations.keys()].filter((id) =>
    mayInOrganization(principal, id, "organizationEmoji:write"),
  )

/** A user id that owns nothing. Used for an API key without the scope to change its user's ids. */
const noUserId = "00000000-0000-0000-0000-000000000000"

export const writePermissionOf = (principal: Principal): WritePermission => ({
  userId: mayAsOwner(principal, "userData:update") ? principal.userId : noUserId,
  organizations: powerOrganizations(principal),
  isAdmin: principal.scopes.has("adminEmoji:write"),
  mayUnlock: principal.scopes.has("adminEmoji:updateSecureData"),
})
