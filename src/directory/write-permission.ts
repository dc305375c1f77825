import { mayAsOwner, mayInOrganization } from "../accounts/permissions.ts"
import type { Principal } from "../http/principal.ts"
import type { Access } from "../http/route.ts"

/** The rights of a caller to change ids and entries of the JSON store. */
export interface WritePermission {
  readonly userId: string
  /** The ids of organizations. The caller may change emoji ids that are owned by keys of these organizations. */
  readonly organizations: ReadonlyArray<string>
  readonly isAdmin: boolean
  /**
   * Whether the caller may write to JSON store entries that are locked, and may write and delete the records of
   * `secureTags`.
   */
  readonly mayUpdateSecureData: boolean
}

export const writeAccess = {
  own: "userData:update",
  organization: "organizationEmoji:write",
  others: "adminEmoji:write",
} as const satisfies Access

const powerOrganizations = (principal: Principal): ReadonlyArray<string> =>
  [...principal.organizations.keys()].filter((id) =>
    mayInOrganization(principal, id, writeAccess.organization),
  )

/**
 * A user id that owns nothing. It is used for an API key that does not have the scope to change the ids of its user.
 */
const noUserId = "00000000-0000-0000-0000-000000000000"

export const writePermissionOf = (principal: Principal): WritePermission => ({
  userId: mayAsOwner(principal, writeAccess.own) ? principal.userId : noUserId,
  organizations: powerOrganizations(principal),
  isAdmin: principal.scopes.has(writeAccess.others),
  mayUpdateSecureData: principal.scopes.has("adminEmoji:updateSecureData"),
})
