import type { ErrorCode } from "./api-types.ts"
import { retryAfterMs } from "./retry-after.ts"

/** An error response. `message` is the `error` text of the service, or a text with the status if there is none. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  /** Machine-readable error code. Empty if the response has none. A newer service may have further codes. */
  readonly code: ErrorCode | (string & {})
  readonly requestId: string
  readonly fields: Readonly<
    Record<string, ReadonlyArray<{ readonly code: string; readonly message: string }>>
  >
  readonly retryAfterSeconds: number | undefined
  readonly body: unknown

  constructor(status: number, headers: Headers, body: unknown) {
    const members = (typeof body === "object" && body !== null ? body : {}) as {
      readonly error?: unknown
      readonly code?: unknown
      readonly fields?: ApiError["fields"]
    }
    super(typeof members.error === "string" ? members.error : `The service responded with status ${status}.`)
    this.status = status
    this.code = typeof members.code === "string" ? members.code : (headers.get("x-error-code") ?? "")
    this.fields = members.fields ?? {}
    this.requestId = headers.get("x-request-id") ?? ""
    const waitMs = retryAfterMs(headers)
    this.retryAfterSeconds = waitMs === undefined ? undefined : Math.ceil(waitMs / 1000)
    this.body = body
  }
}

/**
 * Statuses of errors that may be temporary: request timeout, a request with the same key still in progress, rate
 * limit.
 */
const temporaryStatuses: ReadonlyArray<number> = [408, 409, 429]

/**
 * Whether the error is a final rejection by the service. Temporary errors, errors of the server and network failures
 * are not.
 */
export const isRefusal = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null || !("status" in error)) return false
  const status = Number(error.status)
  return status < 500 && !temporaryStatuses.includes(status)
}
