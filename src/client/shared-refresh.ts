import { isRefusal } from "./api-error.ts"

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Exchanges a refresh token at the service. A repeated request with the same key gets the same response. */
export type Exchange = (refreshToken: string, idempotencyKey: string) => Promise<Tokens>

/** The use of a refresh token: the tokens that replaced it, or the key it was sent with if the response was lost. */
interface Use {
  readonly next?: Tokens
  readonly key?: string
}

/**
 * The known uses of refresh tokens. Two tabs or two clients may share one login. A refresh token works once, and a
 * second use ends the login. So each client reports its use to the others, and checks these reports before it uses a
 * token.
 */
const uses = new Map<string, Use>()
const maxUses = 1000
/**
 * The maximum time to wait for the lock. It is the default of REQUEST_DEADLINE_SECONDS, the longest response time of
 * the service. The time is limited, because a suspended tab that holds the lock must not block the other tabs.
 */
export const lockWaitMs = 15_000
/** The time that other tabs have for a reply. */
const replyMs = 300

const note = (token: string, use: Use): void => {
  if (use.next === undefined && uses.has(token)) return
  uses.set(token, use)
  const [oldest] = uses.keys()
  if (oldest !== undefined && uses.size > maxUses) uses.delete(oldest)
}

/** Returns the newest tokens that replaced this refresh token. Returns undefined if no replacement is known. */
export const newestAfter = (token: string): Tokens | undefined => {
  const visited = new Set([token])
  let newest: Tokens | undefined
  for (let next = uses.get(token)?.next; next !== undefined; next = uses.get(next.refreshToken)?.next) {
    if (visited.has(next.refreshToken)) break
    visited.add(next.refreshToken)
    newest = next
  }
  return newest
}

let channel: BroadcastChannel | undefined
/**
 * Returns the channel to other tabs. Returns undefined outside a browser, and in frames that are not allowed to create
 * a channel.
 */
const otherTabs = (): BroadcastChannel | undefined => {
  if (channel !== undefined || !("isSecureContext" in globalThis)) return channel
  try {
    channel = new BroadcastChannel("emoji-id-refresh")
    channel.onmessage = ({ data }) => {
      const { token, use } = data as { readonly token: string; readonly use?: Use }
      if (use !== undefined) note(token, use)
      else if (uses.has(token)) {
        // The other tab may have missed more than one replacement.
        const next = newestAfter(token)
        channel?.postMessage({ token, use: next === undefined ? uses.get(token) : { next } })
      }
    }
  } catch {
    // Some frames of a browser are not allowed to create a channel. They work without reports from other tabs.
  }
  return channel
}

/**
 * Listens for uses of the token in other tabs. Resolves when a tab has reported an earlier use, or when the time for
 * reports has passed.
 */
export const joinLogin = async (token: string): Promise<void> => {
  const tabs = otherTabs()
  if (tabs === undefined) return
  const signal = AbortSignal.timeout(replyMs)
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

/** Calls the listener when another tab has reported a use of a refresh token. */
export const onReport = (listener: () => void): void => otherTabs()?.addEventListener("message", listener)

export const reportUse = (token: string, use: Use): void => {
  note(token, use)
  otherTabs()?.postMessage({ token, use })
}

/**
 * Runs the task in one tab at a time if the browser has locks. Without locks, or if the lock is not free within
 * `lockWaitMs`, the task runs without a lock. The service tolerates concurrent uses of a refresh token for a few
 * seconds.
 */
const exclusively = async <A>(token: string, task: () => Promise<A>): Promise<A> => {
  if (!globalThis.isSecureContext || navigator.locks === undefined) return task()
  let isStarted = false
  try {
    // Other scripts of the origin can list the names of locks, so the name must not contain the token.
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))
    const signal = AbortSignal.timeout(lockWaitMs)
    return await navigator.locks.request(`emoji-id-refresh-${new Uint8Array(hash)}`, { signal }, () => {
      isStarted = true
      return task()
    })
  } catch (error) {
    if (isStarted) throw error
    return task()
  }
}

export const exchangeOnce = (token: string, ownKey: string, exchange: Exchange): Promise<Tokens> =>
  exclusively(token, async () => {
    const newest = newestAfter(token)
    if (newest !== undefined) return newest
    const key = uses.get(token)?.key ?? ownKey
    try {
      const next = await exchange(token, key)
      reportUse(token, { next })
      return next
    } catch (error) {
      // The service may have processed the request, so the next attempt must use the same key.
      if (!isRefusal(error)) reportUse(token, { key })
      throw error
    }
  })
