export type Frame = Uint8Array

type Run = Map<number, Frame>

interface Arrival {
  readonly run: Run
  readonly offset: number
}

/** The list of arrivals is not compacted below this size. */
const compactFrom = 4096

/**
 * Stores the newest frames of the open channels, so that most reconnecting clients need no read. All channels share one
 * budget of bytes. The oldest frame is dropped first, whatever its channel.
 */
export class ReplayBuffer {
  readonly #runs = new Map<string, Run>()
  readonly #budgetBytes: number
  /** Oldest first. Entries of forgotten channels stay until the next compaction. */
  #arrivals: Array<Arrival> = []
  #next = 0
  #frames = 0
  #bytes = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Adds the next frame of a channel. If its offset is not the next one, call `forget` first. */
  add(channel: string, offset: number, frame: Frame): void {
    let run = this.#runs.get(channel)
    if (run === undefined) {
      run = new Map()
      this.#runs.set(channel, run)
    }
    run.set(offset, frame)
    this.#arrivals.push({ run, offset })
    this.#frames++
    this.#bytes += frame.byteLength
    while (this.#bytes > this.#budgetBytes) this.#dropOldest()
    if (this.#arrivals.length > compactFrom + 2 * this.#frames) this.#compact()
  }

  find(channel: string, offset: number): Frame | undefined {
    return this.#runs.get(channel)?.get(offset)
  }

  forget(channel: string): void {
    const run = this.#runs.get(channel)
    if (run === undefined) return
    this.#runs.delete(channel)
    for (const frame of run.values()) this.#bytes -= frame.byteLength
    this.#frames -= run.size
    run.clear()
  }

  #dropOldest(): void {
    const { offset, run } = this.#arrivals[this.#next++]!
    const frame = run.get(offset)
    if (frame === undefined) return
    run.delete(offset)
    this.#frames--
    this.#bytes -= frame.byteLength
  }

  #compact(): void {
    this.#arrivals = this.#arrivals.slice(this.#next).filter(({ offset, run }) => run.has(offset))
    this.#next = 0
  }
}
