/** An answer that is no success, as the service worded it. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  /** Machine-readable; empty where the operation's errors carry none. */
  readonly code: string
  readonly requestId: string
  readonly fields: Readonly<
    Record<string, ReadonlyArray<{ readonly code: string; readonly message: string }>>
  >
  readonly retryAfterSeconds: number | undefined
  readonly body: unknown

  constructor(status: number, headers: Headers, body: unknown) {
    const facts = (typeof body === "object" && body !== null ? body : {}) as {
      readonly error?: unknown
      readonly code?: unknown
      readonly fields?: ApiError["fields"]
    }
    super(typeof facts.error === "string" ? facts.error : `The service answered ${status}.`)
    this.status = status
    this.code = typeof facts.code === "string" ? facts.code : ""
    this.fields = facts.fields ?? {}
    this.requestId = headers.get("x-request-id") ?? ""
    const retryAfter = headers.get("retry-after")
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter)
    this.body = body
  }
}

/** Answers that say no more than "not now": the request took too long to come, is still being worked on, or too many came. */
const notNow: ReadonlyArray<number> = [408, 409, 429]

/** The service has answered no. */
export const isRefusal = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null || !("status" in error)) return false
  const status = Number(error.status)
  return status < 500 && !notNow.includes(status)
}
