import { type Backoff, delayMs } from "./backoff.ts"
import { retryAfterMs } from "./retry-after.ts"

export const defaultRetries = 2
const backoff: Backoff = { firstMs: 300, longestMs: 5000 }
/** If the service asks for a longer delay, the call fails, and the application decides when to repeat it. */
const longestWaitMs = 30_000

/** What a proxy answers when it cannot reach the service. */
const proxyStatuses: ReadonlyArray<number> = [502, 503, 504]

/**
 * Returns the delay in milliseconds after which a request with this response is repeated. Returns undefined if a
 * repetition cannot help. The service sends `Retry-After` only if the same request can succeed later.
 */
export const delayAfterResponse = (
  { headers, ok, status }: Response,
  attempt: number,
): number | undefined => {
  if (ok) return undefined
  const waitMs = retryAfterMs(headers)
  // The delays of several clients must differ, so that they do not all return at the same moment.
  if (waitMs !== undefined) return waitMs <= longestWaitMs ? waitMs + delayMs(backoff, attempt) : undefined
  return proxyStatuses.includes(status) && !headers.has("x-request-id")
    ? delayMs(backoff, attempt)
    : undefined
}

export const delayAfterFailure = (attempt: number): number => delayMs(backoff, attempt)

/** Waits. Rejects if the application aborts the request. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort)
      resolve()
    }, ms)
    signal?.addEventListener("abort", abort, { once: true })
    if (signal?.aborted) abort()
  })
