import { Effect } from "effect"

/**
 * SQLSTATEs of a server that cannot write but can read: its disk is full, or it is a standby or read-only. Some
 * hosting providers make a server read-only before its disk is full.
 */
const cannotWrite = new Set(["53100", "25006"])
const pause = "500 millis"

export const isWriteFailure = (sqlstate: string): boolean => cannotWrite.has(sqlstate)

/**
 * Knows whether Postgres rejects writes: from the first rejected write until a test write succeeds. Test writes are
 * made twice a second, so the end is noticed without traffic. A successful write of a request proves less than a test
 * write: on a full disk, it succeeds as long as its page has room.
 */
export class WriteFailures {
  readonly #testWrite: Effect.Effect<void, unknown>
  #isFailing = false

  constructor(testWrite: Effect.Effect<void, unknown>) {
    this.#testWrite = testWrite
  }

  get isFailing(): boolean {
    return this.#isFailing
  }

  /** Records a rejected write. */
  note(reason: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#isFailing) return Effect.void
      this.#isFailing = true
      return Effect.andThen(Effect.logError("postgres rejects writes", { reason }), this.#untilWritten)
    })
  }

  get #untilWritten(): Effect.Effect<void> {
    return Effect.suspend(() => Effect.isSuccess(Effect.delay(this.#testWrite, pause))).pipe(
      Effect.flatMap((isWritten) => {
        if (!isWritten) return this.#untilWritten
        this.#isFailing = false
        return Effect.logInfo("postgres accepts writes again")
      }),
    )
  }
}
