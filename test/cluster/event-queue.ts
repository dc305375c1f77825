/** Random numbers and a queue of events in virtual time. The same seed gives the same run. */
export class EventQueue {
  now = 0
  readonly #heap: Array<{ readonly at: number; readonly order: number; readonly run: () => void }> = []
  #state: number
  #order = 0

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  readonly random = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let x = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296
  }

  at(at: number, run: () => void): void {
    const heap = this.#heap
    let i = heap.push({ at, order: this.#order++, run }) - 1
    while (i > 0 && this.#isBefore(i, (i - 1) >> 1)) {
      this.#swap(i, (i - 1) >> 1)
      i = (i - 1) >> 1
    }
  }

  run(until: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= until) {
      const { at, run } = this.#heap[0]!
      const last = this.#heap.pop()!
      if (this.#heap.length > 0) {
        this.#heap[0] = last
        this.#sink()
      }
      this.now = Math.max(this.now, at)
      run()
    }
    this.now = until
  }

  #sink(): void {
    let i = 0
    for (;;) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < this.#heap.length && this.#isBefore(child, least)) least = child
      if (least === i) return
      this.#swap(i, least)
      i = least
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a]!, this.#heap[b]!]
    return one.at === other.at ? one.order < other.order : one.at < other.at
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a]!, this.#heap[b]!]
    this.#heap[a] = other
    this.#heap[b] = one
  }
}
