import { Problem, request } from "./platform/http.js"

/**
 * A code that was sent and not answered. If it was taken, the login it was for has been replaced, and only the same request
 * tells by what: without it that login would count as stolen when it is used again.
 * @type {{code: string, refresh_token: string} | undefined}
 */
let unanswered

const longestKey = 200

/** @param {unknown} error */
const isAnswer = (error) =>
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
    if (isAnswer(error)) unanswered = undefined
    throw error
  }
}

/** What an unanswered code has made of a login; nothing, if it was not taken. @param {string} refreshToken */
export const settled = async (refreshToken) => {
  if (unanswered?.refresh_token !== refreshToken) return undefined
  try {
    return await send(unanswered)
  } catch (error) {
    if (isAnswer(error)) return undefined
    throw error
  }
}

/** New tokens for a login that proves itself by a code. @param {string} refreshToken @param {string} code */
export const prove = async (refreshToken, code) => {
  const earlier = unanswered?.code === code ? undefined : await settled(refreshToken)
  return earlier ?? send({ code, refresh_token: refreshToken })
}
