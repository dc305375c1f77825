import { isRefusal } from "./api-error.ts"

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Exchanges a refresh token at the service. With the same key it gives the same answer, if the first one was lost. */
export type Exchange = (refreshToken: string, idempotencyKey: string) => Promise<Tokens>

/** What became of a refresh token: what replaced it, or, when the answer was lost, the key it was sent with. */
interface Use {
  readonly next?: Tokens
  readonly key?: string
}

/**
 * A page is open in two tabs, or a program has two clients, with one login: its refresh token works once, and used
 * again it ends the login. So whoever uses it tells the others, and a client looks here before it uses its own.
 */
const uses = new Map<string, Use>()
const usesKept = 1000
/** As long as the service takes to answer at most: a tab that was put to sleep must not keep the others waiting. */
export const lockWaitMs = 15_000
/** Long enough for another tab to answer. */
const answerMs = 300

const note = (token: string, use: Use): void => {
  if (use.next === undefined && uses.has(token)) return
  uses.set(token, use)
  const [oldest] = uses.keys()
  if (oldest !== undefined && uses.size > usesKept) uses.delete(oldest)
}

/** The newest tokens that others have got for this one. */
export const newestAfter = (token: string): Tokens | undefined => {
  const passed = new Set([token])
  let newest: Tokens | undefined
  for (let next = uses.get(token)?.next; next !== undefined; next = uses.get(next.refreshToken)?.next) {
    if (passed.has(next.refreshToken)) break
    passed.add(next.refreshToken)
    newest = next
  }
  return newest
}

let channel: BroadcastChannel | undefined
/** Other tabs, in a browser; elsewhere there are none. */
const others = (): BroadcastChannel | undefined => {
  if (channel !== undefined || !("isSecureContext" in globalThis)) return channel
  try {
    channel = new BroadcastChannel("emoji-id-refresh")
    channel.onmessage = ({ data }) => {
      const { token, use } = data as { readonly token: string; readonly use?: Use }
      if (use !== undefined) note(token, use)
      else if (uses.has(token)) {
        // Whoever asks may have missed more than one.
        const next = newestAfter(token)
        channel?.postMessage({ token, use: next === undefined ? uses.get(token) : { next } })
      }
    }
  } catch {
    // Some frames may not have one: they are alone.
  }
  return channel
}

/** A login goes on here: what is made of its token will be heard, and what was made of it is, once this is over. */
export const joinLogin = async (token: string): Promise<void> => {
  const tabs = others()
  if (tabs === undefined) return
  const signal = AbortSignal.timeout(answerMs)
  await new Promise<unknown>((resolve) => {
    signal.onabort = resolve
    tabs.addEventListener(
      "message",
      ({ data }) => data.token === token && data.use !== undefined && resolve(data),
      { signal },
    )
    tabs.postMessage({ token })
  })
}

export const tellUse = (token: string, use: Use): void => {
  note(token, use)
  others()?.postMessage({ token, use })
}

/** One tab at a time, where the browser can tell; where it cannot, the service forgives what comes at the same moment. */
const alone = async <A>(token: string, task: () => Promise<A>): Promise<A> => {
  if (!globalThis.isSecureContext || navigator.locks === undefined) return task()
  let isBegun = false
  try {
    // Names of locks are shown to whoever asks.
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))
    const signal = AbortSignal.timeout(lockWaitMs)
    return await navigator.locks.request(`emoji-id-refresh-${new Uint8Array(hash)}`, { signal }, () => {
      isBegun = true
      return task()
    })
  } catch (error) {
    if (isBegun) throw error
    return task()
  }
}

export const exchangeOnce = (token: string, ownKey: string, exchange: Exchange): Promise<Tokens> =>
  alone(token, async () => {
    const told = newestAfter(token)
    if (told !== undefined) return told
    const key = uses.get(token)?.key ?? ownKey
    try {
      const next = await exchange(token, key)
      tellUse(token, { next })
      return next
    } catch (error) {
      // Perhaps it was heard all the same: whoever asks next must ask as this one did.
      if (!isRefusal(error)) tellUse(token, { key })
      throw error
    }
  })
