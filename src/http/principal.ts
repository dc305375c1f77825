import type { Role, Scope } from "../../schema/accounts/scope.ts"

/** The authenticated caller. */
export interface Principal {
  readonly userId: string
  readonly role: Role
  readonly scopes: ReadonlySet<Scope>
  /**
   * The scopes listed by the API key, including those its owner has only in an organization. Undefined: not limited.
   */
  readonly limitedTo?: ReadonlySet<Scope>
  readonly via: "session" | "api_key" | "oauth"
  /** The API key that authenticated the caller. */
  readonly keyId?: string
  /** When that key expires, in milliseconds since the Unix epoch; Infinity if it does not expire. */
  readonly keyExpiresAt?: number
  /** The login session; empty for API keys. */
  readonly sessionId: string
  /** The only emoji id that a token of the authorization-code flow can read. */
  readonly emojiId: string | undefined
  readonly organizations: ReadonlyMap<string, Role>
  /** Two-factor authentication is on, so sensitive operations may require a new code. */
  readonly twoFactor: boolean
}
