import { askForCode } from "../parts/code-dialog.js"
import { Problem, request } from "./http.js"
import { refresh, tokens } from "./session.js"

/**
 * The Idempotency-Keys of calls that got no response or a server error, by request. If the user repeats such a
 * request, it is sent with the same key, so that the service runs it only once.
 */
const unansweredKeys = new Map()
/** The maximum number of retries while the service still processes the first attempt. */
const maxRetries = 5

/**
 * Calls the API as the signed-in user. An expired token is refreshed once. If the service requires a new two-factor
 * code, the user is asked for it. In both cases, the call is then repeated.
 * @param {string} method @param {string} path @param {unknown} [body]
 * @param {{beforeCode?: () => void, hasKey?: boolean, onHeaders?: (headers: Headers) => void}} [how]
 */
export const call = async (
  method,
  path,
  body,
  { beforeCode = () => {}, hasKey = method !== "GET", onHeaders } = {},
) => {
  const signature = JSON.stringify([method, path, body])
  const idempotencyKey = hasKey
    ? (unansweredKeys.get(signature) ?? `${Date.now()}-${Math.random()}`)
    : undefined
  let retriesLeft = unansweredKeys.delete(signature) ? maxRetries : 0
  let renewed = false
  for (;;) {
    try {
      return await request(method, path, {
        body,
        token: tokens.value?.access_token,
        idempotencyKey,
        onHeaders,
      })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (error.status === 401 && tokens.value !== undefined && !renewed) {
        renewed = true
        await refresh()
      } else if (error.status === 424) {
        beforeCode()
        await askForCode()
      } else if (error.status === 409 && error.retryAfterSeconds > 0 && retriesLeft-- > 0)
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterSeconds * 1000))
      else {
        const isOpen = error.status === 0 || error.status >= 500
        if (isOpen && hasKey) unansweredKeys.set(signature, idempotencyKey)
        throw error
      }
    }
  }
}

/** @param {string} path */
export const get = (path) => call("GET", path)

const pageSize = 500

/**
 * Reads a complete list in pages, because one very long response would delay other requests to the service.
 * @param {string} path
 */
export const getAll = async (path) => {
  const found = []
  let next = `${path}?limit=${pageSize}`
  while (next !== undefined) {
    const page = next
    next = undefined
    const onHeaders = (headers) => {
      next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1]
    }
    found.push(...(await call("GET", page, undefined, { onHeaders })))
  }
  return found
}

/** @param {string} id an emoji id as part of a path */
export const pathOf = (id) => `/emoji_id/${encodeURIComponent(id)}`
