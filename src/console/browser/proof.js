import { Problem, request } from "./platform/http.js"

/**
 * The last code request that got no final response: no response at all, a server error, or status 409. If the service
 * accepted the code, it replaced the refresh token, and only a repetition of the same request returns the new tokens.
 * Using the old refresh token in another request could count as token theft.
 * @type {{code: string, refresh_token: string} | undefined}
 */
let unanswered

const longestKey = 200

/** @param {unknown} error */
const isFinalAnswer = (error) =>
  error instanceof Problem && error.status > 0 && error.status < 500 && error.status !== 409

/** @param {{code: string, refresh_token: string}} body */
const send = async (body) => {
  unanswered = body
  try {
    const idempotencyKey = `code-${encodeURIComponent(body.code)}`.slice(0, longestKey)
    const next = await request("POST", "/auth/2fa", { body, idempotencyKey })
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
 * @param {string} refreshToken
 */
export const settled = async (refreshToken) => {
  if (unanswered?.refresh_token !== refreshToken) return undefined
  try {
    return await send(unanswered)
  } catch (error) {
    if (isFinalAnswer(error)) return undefined
    throw error
  }
}

/** Verifies a two-factor code and returns new tokens. @param {string} refreshToken @param {string} code */
export const prove = async (refreshToken, code) => {
  const earlier = unanswered?.code === code ? undefined : await settled(refreshToken)
  return earlier ?? send({ code, refresh_token: refreshToken })
}
