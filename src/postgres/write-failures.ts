/**
 * SQLSTATEs of a server that cannot write but can read: its disk is full, or it is a standby or read-only. Some
 * hosting providers make a server read-only before its disk is full.
 */
const cannotWrite = new Set(["53100", "25006"])
const rememberedMs = 60_000

export const isWriteFailure = (sqlstate: string): boolean => cannotWrite.has(sqlstate)

/** Records the failed writes of requests, and reports whether one failed in the last minute. Makes no test writes. */
export class WriteFailures {
  #lastAt = Number.NEGATIVE_INFINITY

  /** Records a failed write. Returns true if no other write failed in the minute before. */
  note(now: number): boolean {
    const isNews = !this.areRecent(now)
    this.#lastAt = now
    return isNews
  }

  areRecent(now: number): boolean {
    return now - this.#lastAt < rememberedMs
  }
}
