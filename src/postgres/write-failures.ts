/** Postgres can be read, but its disk is full, or it is a standby or was made read-only, as hosts do before a disk is full. */
const cannotWrite = new Set(["53100", "25006"])
const rememberedMs = 60_000

export const isWriteFailure = (sqlstate: string): boolean => cannotWrite.has(sqlstate)

/** Whether writes fail, by what statements met lately: nothing is written to find out, and who waits a minute forgets. */
export class WriteFailures {
  #lastAt = Number.NEGATIVE_INFINITY

  /** Answers whether that is news. */
  note(now: number): boolean {
    const isNews = !this.areRecent(now)
    this.#lastAt = now
    return isNews
  }

  areRecent(now: number): boolean {
    return now - this.#lastAt < rememberedMs
  }
}
