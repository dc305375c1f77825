import { ApiError } from "./api-error.ts"
import { callListener } from "./event-listener.ts"
import { randomKey } from "./random-key.ts"
import {
  type Exchange,
  exchangeOnce,
  joinLogin,
  newestAfter,
  onReport,
  reportUse,
  type Tokens,
} from "./shared-refresh.ts"
import { inOrder, type TokenStorage } from "./token-storage.ts"

/** How a client authenticates. */
export type CredentialOptions =
  /** Anonymous until `logIn`: public operations and channels only. */
  | { readonly onTokens?: TokensListener }
  /** The login whose tokens are stored. Anonymous until `logIn` if there are none. */
  | { readonly storage: TokenStorage; readonly onTokens?: TokensListener }
  /**
   * An access token that the application renews. A function is called for each request, and again after a rejection.
   */
  | { readonly token: string | (() => string | Promise<string>) }
  /**
   * The tokens of a login. They rotate: store the tokens that `onTokens` reports, for the next start and other tabs.
   */
  | {
      readonly refreshToken: string
      readonly accessToken?: string
      readonly onTokens?: TokensListener
    }
  | { readonly apiKey: string }

/**
 * Called with new tokens, also if another tab received them. The application should store them. Called with undefined
 * after a logout and when the service has ended the login: then the application should delete the stored tokens.
 */
type TokensListener = (tokens: Tokens | undefined) => void

const endedMessage = "The sign-in ended before its token was renewed"

export class Credentials {
  readonly #options: CredentialOptions
  readonly #exchange: Exchange
  #accessToken: string | undefined
  #refreshToken: string | undefined
  #logins = 0
  /** Counts logins, logouts and calls that replaced the tokens, so that an older exchange has no effect. */
  #changes = 0
  #isFollowing = false
  /** The calls in progress that may replace the tokens. */
  readonly #replacing = new Set<Promise<unknown>>()
  readonly #onEnd: () => void
  #exchanging: Promise<string> | undefined
  /**
   * Resolves when another tab has reported a use of the given refresh token, or when the time for such reports has
   * passed.
   */
  #joining: Promise<void> | undefined
  /**
   * The idempotency key for the exchange of the current refresh token. A repeated exchange with another key can count
   * as reuse, which ends the login.
   */
  #exchangeKey = randomKey()
  readonly #storage: ReturnType<typeof inOrder> | undefined
  readonly #loaded: Promise<void>

  /** `onEnd` is called when the service has ended the login. */
  constructor(options: CredentialOptions, exchange: Exchange, onEnd = () => {}) {
    this.#options = options
    this.#exchange = exchange
    this.#onEnd = onEnd
    if ("refreshToken" in options) {
      this.#refreshToken = options.refreshToken
      this.#accessToken = options.accessToken
      this.#joining = this.#join(options.refreshToken)
    }
    this.#storage = "storage" in options ? inOrder(options.storage) : undefined
    this.#loaded = "storage" in options ? this.#load(options.storage) : Promise.resolve()
    // Each call reports the failure to the application.
    this.#loaded.catch(() => {})
  }

  async #load(storage: TokenStorage): Promise<void> {
    const tokens = await storage.load()
    // A login that was made while the storage was read is newer.
    if (tokens == null || this.#logins > 0) return
    this.#accessToken = tokens.accessToken
    this.#refreshToken = tokens.refreshToken
    this.#joining = this.#join(tokens.refreshToken)
  }

  /** Takes part in the exchange of reports between tabs. New tokens of another tab are stored at once. */
  #join(refreshToken: string): Promise<void> {
    const isStored = "storage" in this.#options || "onTokens" in this.#options
    if (isStored && !this.#isFollowing) {
      this.#isFollowing = true
      onReport(() => void this.newestRefreshToken())
    }
    return joinLogin(refreshToken)
  }

  /** Resolves when the stored tokens are loaded. Rejects if the storage fails, until there is a new login. */
  get ready(): Promise<void> {
    return this.#logins > 0 ? Promise.resolve() : this.#loaded
  }

  get apiKey(): string | undefined {
    return "apiKey" in this.#options ? this.#options.apiKey : undefined
  }
  get canRenew(): boolean {
    return (
      this.#refreshToken !== undefined ||
      ("token" in this.#options && typeof this.#options.token === "function")
    )
  }

  /** Returns the newest refresh token of the login. Another tab may have received it. */
  newestRefreshToken(): string | undefined {
    const newer = this.#refreshToken === undefined ? undefined : newestAfter(this.#refreshToken)
    if (newer !== undefined) this.#store(newer)
    return this.#refreshToken
  }

  /** Counts logins and logouts, so that a request of one login is not repeated with another login. */
  get logins(): number {
    return this.#logins
  }

  /**
   * Stores tokens of a new login, or new tokens of the current login if `replaced` is given. `replaced` is the refresh
   * token that they replace.
   */
  adopt(tokens: Tokens, replaced?: string): void {
    this.#changes++
    if (replaced === undefined) {
      this.#logins++
      void this.#join(tokens.refreshToken)
    } else reportUse(replaced, { next: tokens })
    this.#store(tokens)
  }

  /** Runs a call that may replace the tokens. Meanwhile, an end of the old session does not end the login. */
  async replacing<A>(call: Promise<A>): Promise<A> {
    this.#replacing.add(call)
    try {
      return await call
    } finally {
      this.#replacing.delete(call)
    }
  }

  #store(tokens: Tokens): void {
    this.#accessToken = tokens.accessToken
    this.#refreshToken = tokens.refreshToken
    this.#exchangeKey = randomKey()
    this.#storage?.save(tokens)
    this.#notify(tokens)
  }

  #notify(tokens: Tokens | undefined): void {
    const options = this.#options
    if ("onTokens" in options) callListener(() => options.onTokens?.(tokens))
  }

  /**
   * Removes the login from this object. Returns credentials that still contain the login, so that the caller can end
   * it at the service.
   */
  leave(): Credentials {
    const refreshToken = this.newestRefreshToken()
    if (refreshToken === undefined) return this
    const accessToken = this.#accessToken
    const leaving = new Credentials(
      { refreshToken, ...(accessToken === undefined ? {} : { accessToken }) },
      this.#exchange,
    )
    leaving.#exchangeKey = this.#exchangeKey
    this.#storage?.save(undefined)
    this.#clear()
    return leaving
  }

  #clear(): void {
    this.#logins++
    this.#changes++
    this.#accessToken = undefined
    this.#refreshToken = undefined
    this.#notify(undefined)
  }

  /** Removes the login that the service has ended, unless a call in progress replaces it. */
  async #end(refreshToken: string): Promise<void> {
    const changes = this.#changes
    if (this.#replacing.size > 0) await Promise.allSettled(this.#replacing)
    if (this.#changes !== changes) return
    this.#storage?.deleteEnded(refreshToken)
    this.#clear()
    this.#onEnd()
  }

  /** Returns the access token, or undefined if the client has no login or uses an API key. */
  async token(): Promise<string | undefined> {
    if ("token" in this.#options) {
      const { token } = this.#options
      return typeof token === "string" ? token : token()
    }
    await this.ready
    return this.#accessToken ?? (this.#refreshToken === undefined ? undefined : this.renew())
  }

  /**
   * Returns a renewed access token. Concurrent calls share one exchange, because a refresh token can be used only
   * once.
   */
  renew(rejected?: string): Promise<string> {
    if ("token" in this.#options) return Promise.resolve(this.token()).then((token) => token ?? "")
    // Another call has already renewed the token.
    if (rejected !== undefined && this.#accessToken !== undefined && this.#accessToken !== rejected)
      return Promise.resolve(this.#accessToken)
    this.#exchanging ??= this.#renewOnce().finally(() => {
      this.#exchanging = undefined
    })
    return this.#exchanging
  }

  async #renewOnce(): Promise<string> {
    const changes = this.#changes
    await this.#joining
    if (this.#changes !== changes) throw new Error(endedMessage)
    const refreshToken = this.newestRefreshToken()
    if (refreshToken === undefined) throw new Error("Not signed in: there is no refresh token")
    try {
      const tokens = await exchangeOnce(refreshToken, this.#exchangeKey, this.#exchange)
      // A logout or another login happened during the exchange. The call belongs to the old login and must fail.
      if (this.#changes !== changes) throw new Error(endedMessage)
      this.#store(tokens)
      return tokens.accessToken
    } catch (error) {
      const isEnded = error instanceof ApiError && error.status === 401
      if (isEnded && this.#changes === changes) void this.#end(refreshToken)
      throw error
    }
  }
}
