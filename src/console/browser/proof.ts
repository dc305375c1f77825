import type { TokenResponse } from "../../client/api-types.ts"
import { Problem } from "./platform/http.ts"
import { sendWith } from "./platform/request.ts"

interface CodeRequest {
  readonly code: string
  readonly refresh_token: string
}

/**
 * The last code request that got no final response: no response at all, a server error, or status 409. If the service
 * accepted the code, it replaced the refresh token, and only a repetition of the same request returns the new tokens.
 * Using the old refresh token in another request could count as token theft.
 */
let unanswered: CodeRequest | undefined

const longestKey = 200

const isFinalAnswer = (error: unknown): boolean =>
  error instanceof Problem && error.status > 0 && error.status < 500 && error.status !== 409

const sendCode = async (body: CodeRequest): Promise<TokenResponse> => {
  unanswered = body
  try {
    const idempotencyKey = `code-${encodeURIComponent(body.code)}`.slice(0, longestKey)
    const next = await sendWith({ idempotencyKey }, "POST /auth/2fa", { body })
    unanswered = undefined
    return next
  } catch (error) {
    if (isFinalAnswer(error)) unanswered = undefined
    throw error
  }
}

/**
 * Repeats the code request that got no final response. Returns the new tokens. Returns undefined if there is no such
 * request for this refresh token, or if the code was rejected.
 */
export const settled = async (refreshToken: string): Promise<TokenResponse | undefined> => {
  if (unanswered?.refresh_token !== refreshToken) return undefined
  try {
    return await sendCode(unanswered)
  } catch (error) {
    if (isFinalAnswer(error)) return undefined
    throw error
  }
}

/** Verifies a two-factor code and returns new tokens. */
export const prove = async (refreshToken: string, code: string): Promise<TokenResponse> => {
  const earlier = unanswered?.code === code ? undefined : await settled(refreshToken)
  return earlier ?? sendCode({ code, refresh_token: refreshToken })
}
