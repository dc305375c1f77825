import type { Role, Scope } from "../../schema/accounts/scope.ts"

/** Who is asking, as far as the credentials prove it. */
export interface Principal {
  readonly userId: string
  readonly role: Role
  readonly scopes: ReadonlySet<Scope>
  /** All that an API key lists, also what its owner may do only inside an organization. Undefined: no limit. */
  readonly limitedTo?: ReadonlySet<Scope>
  readonly via: "session" | "api_key" | "oauth"
  /** The API key that proved it. */
  readonly keyId?: string
  /** When that key ends, in milliseconds since the epoch; Infinity for one without an end. */
  readonly keyExpiresAt?: number
  /** The login session; empty for API keys. */
  readonly sessionId: string
  /** The one id an authorization-code token reaches. */
  readonly emojiId: string | undefined
  readonly organizations: ReadonlyMap<string, Role>
  /** A two-factor method is on, so sensitive operations may want a fresh code. */
  readonly twoFactor: boolean
}
