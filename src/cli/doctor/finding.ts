/** One line of the report. `advice` is one sentence that says what to do. */
export interface Finding {
  readonly check: string
  readonly state: "ok" | "warning" | "failed"
  readonly message: string
  readonly advice?: string
}

export const ok = (check: string, message: string): Finding => ({ check, state: "ok", message })
export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  state: "warning",
  message,
  advice,
})
export const failed = (check: string, message: string, advice: string): Finding => ({
  check,
  state: "failed",
  message,
  advice,
})

export const messageOf = (error: unknown): string =>
  error instanceof Error
    ? (error.message || (error.cause === undefined ? error.name : messageOf(error.cause))).split("\n")[0]!
    : String(error)

/** An error whose message has both parts: what happened, and then what to do. */
export const failedStart = (check: string, error: unknown): Finding => ({
  check,
  state: "failed",
  message: messageOf(error),
})
