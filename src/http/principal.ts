import type { Role, Scope } from "../../schema/accounts/scope.ts"

/** The authenticated caller. */
export interface Principal {
  readonly userId: string
  readonly role: Role
  readonly scopes: ReadonlySet<Scope>
  /**
   * The scopes that the API key lists, including scopes that its owner has only in an organization. Undefined if the
   * scopes are not limited by a key.
   */
  readonly limitedTo?: ReadonlySet<Scope>
  readonly via: "session" | "api_key" | "oauth"
  /** The id of the API key that authenticated the caller; undefined without an API key. */
  readonly keyId?: string
  /** When the API key expires, in milliseconds since the Unix epoch; Infinity if it does not expire. */
  readonly keyExpiresAt?: number
  /** Whether the API key may do sensitive operations; undefined without an API key. */
  readonly keyIsSensitive?: boolean
  /** The id of the login session, or of the grant of an OAuth token; empty for API keys. */
  readonly sessionId: string
  /** The only emoji id that a token of the OAuth authorization-code flow can read; undefined for other callers. */
  readonly emojiId: string | undefined
  readonly organizations: ReadonlyMap<string, Role>
  /** Whether the user has turned on two-factor authentication. Then sensitive operations may require a new code. */
  readonly twoFactor: boolean
}

/**
 * Returns the key under which the rate limits count the requests of a caller. Each API key is counted separately. All
 * sessions of a user are counted together, and so are all OAuth tokens of a user.
 */
export const callerKey = ({ keyId, userId, via }: Principal): string => `${via}/${keyId ?? userId}`
