/**
 * The disk is full, or the server is a standby or read-only, as some hosts set it before the disk is full. Reads
 * work.
 */
const cannotWrite = new Set(["53100", "25006"])
const rememberedMs = 60_000

export const isWriteFailure = (sqlstate: string): boolean => cannotWrite.has(sqlstate)

/** Whether writes fail, according to the statements of the last minute. No write is made to find out. */
export class WriteFailures {
  #lastAt = Number.NEGATIVE_INFINITY

  /** Records a failure. Returns true if it is the first one for a minute. */
  note(now: number): boolean {
    const isNews = !this.areRecent(now)
    this.#lastAt = now
    return isNews
  }

  areRecent(now: number): boolean {
    return now - this.#lastAt < rememberedMs
  }
}
