import { ApiError } from "./api-error.ts"
import type { TokenResponse } from "./api-types.ts"
import { randomKey } from "./random-key.ts"

interface CodeRequest {
  readonly code: string
  readonly refreshToken: string
  readonly key: string
}

/** After these statuses the service may still accept the same request, or may have accepted it. */
const openStatuses: ReadonlyArray<number> = [408, 409]

const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && !openStatuses.includes(error.status)

/**
 * Sends two-factor codes. If the service accepted a code, it replaced the refresh token. If that response was lost, only
 * a repetition of the same request returns the new tokens, and another use of the old refresh token can count as theft.
 */
export class CodeRequests {
  readonly #send: (request: CodeRequest) => Promise<TokenResponse>
  /** The last request that got no final response. */
  #unanswered: CodeRequest | undefined

  constructor(send: (request: CodeRequest) => Promise<TokenResponse>) {
    this.#send = send
  }

  /** Sends a code and returns the new tokens. */
  async enter(refreshToken: string, code: string): Promise<TokenResponse> {
    const open = this.#unanswered
    const isSame = open?.refreshToken === refreshToken && open.code === code
    if (isSame) return this.#request(open)
    return (await this.settle(refreshToken)) ?? this.#request({ code, refreshToken, key: randomKey() })
  }

  /**
   * Repeats the request that got no final response. Returns undefined if there is none for this refresh token, or if
   * its code was rejected.
   */
  async settle(refreshToken: string): Promise<TokenResponse | undefined> {
    if (this.#unanswered?.refreshToken !== refreshToken) return undefined
    try {
      return await this.#request(this.#unanswered)
    } catch (error) {
      if (isFinal(error)) return undefined
      throw error
    }
  }

  async #request(request: CodeRequest): Promise<TokenResponse> {
    this.#unanswered = request
    try {
      const tokens = await this.#send(request)
      this.#unanswered = undefined
      return tokens
    } catch (error) {
      if (isFinal(error)) this.#unanswered = undefined
      throw error
    }
  }
}
