import { isPowerRole } from "../../schema/scope.ts"
import type { Principal } from "../http/principal.ts"

/** Who wants to change an id, and by what right besides owning it. */
export interface Writer {
  readonly userId: string
  /** Organizations whose keys' ids this caller may write to. */
  readonly organizations: ReadonlyArray<string>
  readonly isAdmin: boolean
  /** May write what its owner has locked. */
  readonly mayUnlock: boolean
}

/** An API key carries only the scopes it lists, so its owner's role in an organization alone does not count for it. */
const powerOrganizations = ({ organizations, scopes, via }: Principal): ReadonlyArray<string> =>
  via === "api_key" && !scopes.has("organizationEmoji:write")
    ? []
    : [...organizations].filter(([, role]) => isPowerRole(role)).map(([id]) => id)

export const writerOf = (principal: Principal): Writer => ({
  userId: principal.userId,
  organizations: powerOrganizations(principal),
  isAdmin: principal.scopes.has("adminEmoji:write"),
  mayUnlock: principal.scopes.has("adminEmoji:updateSecureData"),
})
