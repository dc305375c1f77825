import { askForCode } from "../parts/code-dialog.js"
import { Problem, request } from "./http.js"
import { refresh, tokens } from "./session.js"

/** The keys of calls whose answer was lost, by what they ask for: who asks for it again means the same call. */
const lost = new Map()
/** So often a call that was lost is asked for again while the service is still at it. */
const patience = 5

/**
 * Calls the API as the user. A token that has ended is renewed once, and where a fresh two-factor code is wanted the
 * person is asked for it; then the call is made again.
 * @param {string} method @param {string} path @param {unknown} [body]
 * @param {{beforeCode?: () => void, hasKey?: boolean}} [how]
 */
export const call = async (method, path, body, { beforeCode = () => {}, hasKey = method !== "GET" } = {}) => {
  const wanted = JSON.stringify([method, path, body])
  const idempotencyKey = hasKey ? (lost.get(wanted) ?? `${Date.now()}-${Math.random()}`) : undefined
  let waits = lost.delete(wanted) ? patience : 0
  let renewed = false
  for (;;) {
    try {
      return await request(method, path, { body, token: tokens.value?.access_token, idempotencyKey })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.status === 401 && tokens.value !== undefined && !renewed) {
        renewed = true
        await refresh()
      } else if (error.status === 424) {
        beforeCode()
        await askForCode()
      } else if (error.status === 409 && error.retryAfterSeconds > 0 && waits-- > 0)
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000))
      else {
        const isOpen = error.status === 0 || error.status >= 500
        if (isOpen && hasKey) lost.set(wanted, idempotencyKey)
        throw error
      }
    }
  }
}

/** @param {string} path */
export const get = (path) => call("GET", path)

const pieceSize = 500

/** A list to its end, in pieces: one long answer would keep everybody else waiting. @param {string} path */
export const getAll = async (path) => {
  const found = []
  for (let page = 0; found.length === page * pieceSize; page++)
    found.push(...(await get(`${path}?limit=${pieceSize}&page=${page}`)))
  return found
}

/** @param {string} id an emoji id as part of a path */
export const pathOf = (id) => `/emoji_id/${encodeURIComponent(id)}`
