import { tell } from "./event-listener.ts"
import {
  type Exchange,
  exchangeOnce,
  joinLogin,
  newestAfter,
  type Tokens,
  tellUse,
} from "./shared-refresh.ts"

/** How a client proves who it is. */
export type CredentialOptions =
  /** Nobody in particular, until `logIn`: public operations and channels. */
  | { readonly onTokens?: TokensListener }
  /** An access token that somebody else keeps fresh; asked for again whenever it was refused. */
  | { readonly token: string | (() => string | Promise<string>) }
  /** A login's tokens. They rotate: keep what `onTokens` tells for the next start, and for other tabs. */
  | {
      readonly refreshToken: string
      readonly accessToken?: string
      readonly onTokens?: TokensListener
    }
  | { readonly apiKey: string }

/** Undefined: there was a logout, and what was kept is to be forgotten. */
type TokensListener = (tokens: Tokens | undefined) => void

const overMessage = "The login was over before its token was renewed"

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  )

export class Credentials {
  readonly #options: CredentialOptions
  readonly #exchange: Exchange
  #accessToken: string | undefined
  #refreshToken: string | undefined
  #logins = 0
  #exchanging: Promise<string> | undefined
  /** Other tabs are asked what they made of the token that was given. */
  #joining: Promise<void> | undefined
  /** One for each refresh token: sent again without it, a token used before would end the login. */
  #exchangeKey = randomKey()

  constructor(options: CredentialOptions, exchange: Exchange) {
    this.#options = options
    this.#exchange = exchange
    if ("refreshToken" in options) {
      this.#refreshToken = options.refreshToken
      this.#accessToken = options.accessToken
      this.#joining = joinLogin(options.refreshToken)
    }
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

  /** The newest of the login, which another tab may have got. */
  newestRefreshToken(): string | undefined {
    const newer = this.#refreshToken === undefined ? undefined : newestAfter(this.#refreshToken)
    if (newer !== undefined) this.#keep(newer)
    return this.#refreshToken
  }

  /** Counts who has logged in and out: what was asked for one is not asked again for another. */
  get logins(): number {
    return this.#logins
  }

  /** Of a new login, or of the one whose token they were got for. */
  adopt(tokens: Tokens, replaced?: string): void {
    this.#logins++
    if (replaced === undefined) void joinLogin(tokens.refreshToken)
    else tellUse(replaced, { next: tokens })
    this.#keep(tokens)
  }

  #keep(tokens: Tokens): void {
    this.#accessToken = tokens.accessToken
    this.#refreshToken = tokens.refreshToken
    this.#exchangeKey = randomKey()
    this.#tell(tokens)
  }

  #tell(tokens: Tokens | undefined): void {
    const options = this.#options
    if ("onTokens" in options) tell(() => options.onTokens?.(tokens))
  }

  /** Forgets the login. What is returned still has it, to end it at the service. */
  leave(): Credentials {
    const refreshToken = this.newestRefreshToken()
    if (refreshToken === undefined) return this
    const accessToken = this.#accessToken
    const leaving = new Credentials(
      { refreshToken, ...(accessToken === undefined ? {} : { accessToken }) },
      this.#exchange,
    )
    leaving.#exchangeKey = this.#exchangeKey
    this.#logins++
    this.#accessToken = undefined
    this.#refreshToken = undefined
    this.#tell(undefined)
    return leaving
  }

  /** Undefined: go without. */
  async token(): Promise<string | undefined> {
    if ("token" in this.#options) {
      const { token } = this.#options
      return typeof token === "string" ? token : token()
    }
    return this.#accessToken ?? (this.#refreshToken === undefined ? undefined : this.renew())
  }

  /** A token other than the refused one. Calls at the same time share one exchange: a refresh token works once. */
  renew(refused?: string): Promise<string> {
    if ("token" in this.#options) return Promise.resolve(this.token()).then((token) => token ?? "")
    // Another call was refused earlier and has brought this one already.
    if (refused !== undefined && this.#accessToken !== undefined && this.#accessToken !== refused)
      return Promise.resolve(this.#accessToken)
    this.#exchanging ??= this.#renewOnce().finally(() => {
      this.#exchanging = undefined
    })
    return this.#exchanging
  }

  async #renewOnce(): Promise<string> {
    const logins = this.#logins
    await this.#joining
    if (this.#logins !== logins) throw new Error(overMessage)
    const refreshToken = this.newestRefreshToken()
    if (refreshToken === undefined) throw new Error("There is no refresh token")
    const tokens = await exchangeOnce(refreshToken, this.#exchangeKey, this.#exchange)
    // Whoever logged out or in meanwhile does not want these, and what was called for the one before is not theirs to call.
    if (this.#logins !== logins) throw new Error(overMessage)
    this.#keep(tokens)
    return tokens.accessToken
  }
}
