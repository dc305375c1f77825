import type { TurnBudget } from "./turn-budget.ts"

/** One request that waits, or that was begun. */
export interface Work {
  readonly discardAt: number
  /** Begins the request. `done` must be called when its response is ready. */
  readonly begin: () => void
  /** Answers that the service is overloaded. The request was not begun. */
  readonly refuse: (retryAfterSeconds: number) => void
}

export interface WorkQueueOptions {
  readonly budget: TurnBudget
  /** The maximum time from the arrival of a complete request until it is begun, or until its statement is sent. */
  readonly maxWaitMs: number
  /** The maximum number of requests that run at the same time. */
  readonly maxRunning: number
  /** So many run even if few are completed. */
  readonly minRunning: number
}

const measureEveryMs = 100
/** The share of a new measurement in the rate. The rate follows a change within about half a second. */
const newShare = 0.3
/** So many requests may wait, whatever the expected wait is. */
const minWaiting = 16
/**
 * A burst, for example of clients that reconnect, is absorbed: for a short time after the last moment without a queue,
 * so many requests may wait, whatever the expected wait is.
 */
const burstMs = 500
const burstWaiting = 512

/**
 * Begins requests of one kind in the order of arrival, and lets a limited number of them run. A request is refused at
 * once if its expected wait is too long: more than half of the longest wait, because the estimate may be wrong by a
 * factor of two. The expected wait is the number of requests before it, divided by the rate at which requests were
 * completed lately. The rate is measured only while requests wait: then it is what the service can do, and not what
 * clients ask for.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #waiting = new Set<Work>()
  #running = 0
  #completed = 0
  /** Completed requests per millisecond; undefined before the first measurement. */
  #rate: number | undefined
  #measuredAt = 0
  /** The last time when a request arrived that did not have to wait for others. */
  #freeAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isStarting = false
  #refused = 0
  #discarded = 0

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  stats() {
    return {
      waiting: this.#waiting.size,
      running: this.#running,
      expectedWaitMs: this.#expectedWaitMs(),
      oldestMs: this.#oldestMs(),
      refused: this.#refused,
      discarded: this.#discarded,
    }
  }

  /** Whether a new request is refused. Counts it in that case. */
  refuses(): boolean {
    if (this.#waiting.size === 0 || !this.#isFull(performance.now())) return false
    this.#refused++
    return true
  }

  /** Begins the request, or lets it wait, or refuses it. */
  add(work: Work): void {
    const now = performance.now()
    if (this.#waiting.size === 0 && this.#running < this.#maxRunning()) this.#freeAt = now
    if (this.#waiting.size === 0 && this.#mayStart()) this.#start(work)
    else if (this.#waiting.size > 0 && this.#isFull(now)) this.#refuse(work)
    else {
      if (this.#waiting.size === 0) this.#startMeasuring(now)
      this.#waiting.add(work)
      this.#options.budget.awaitTurn()
    }
  }

  /** Removes a request that waits, because its client has disconnected. */
  remove(work: Work): void {
    this.#waiting.delete(work)
  }

  /** Must be called when a begun request is answered. A request that only failed for lack of time says nothing about the rate. */
  done(wasServed: boolean): void {
    this.#running--
    if (wasServed) this.#completed++
    this.#startNext()
  }

  /** Begins the first request that waits, if it may run. Returns whether it did. */
  startOne(): boolean {
    if (this.#isStarting) return false
    this.#isStarting = true
    const isStarted = this.#startFirst()
    this.#isStarting = false
    if (!isStarted && this.#waiting.size > 0 && this.#running < this.#maxRunning())
      this.#options.budget.awaitTurn()
    return isStarted
  }

  #startNext(): void {
    while (this.startOne());
  }

  #startFirst(): boolean {
    for (const work of this.#waiting) {
      if (!this.#mayStart()) return false
      this.#waiting.delete(work)
      if (work.discardAt >= performance.now()) {
        this.#start(work)
        return true
      }
      this.#discard(work)
    }
    return false
  }

  #mayStart(): boolean {
    return this.#running < this.#maxRunning() && !this.#options.budget.isUsedUp
  }

  /**
   * The running requests must be completed within a quarter of the longest wait. If the database is slow, fewer run, and
   * the others wait here, where they can be refused.
   */
  #maxRunning(): number {
    const { maxRunning, maxWaitMs, minRunning } = this.#options
    if (this.#rate === undefined) return maxRunning
    return Math.min(maxRunning, Math.max(minRunning, (this.#rate * maxWaitMs) / 4))
  }

  #expectedWaitMs(): number {
    const ahead = this.#waiting.size
    return ahead === 0 ? 0 : ahead / Math.max(this.#rate ?? 1, 0.001)
  }

  #oldestMs(): number {
    for (const { discardAt } of this.#waiting)
      return Math.max(0, performance.now() - (discardAt - this.#options.maxWaitMs))
    return 0
  }

  #isFull(now: number): boolean {
    const { size } = this.#waiting
    if (size < minWaiting || (size < burstWaiting && now - this.#freeAt < burstMs)) return false
    return this.#expectedWaitMs() > this.#options.maxWaitMs / 2
  }

  #start(work: Work): void {
    this.#running++
    this.#options.budget.spend(work.begin)
  }

  /** The time to wait is random, so that refused clients do not all come back at the same moment. */
  #refuse(work: Work): void {
    this.#refused++
    work.refuse(1 + Math.floor(Math.random() * 3))
  }

  #discard(work: Work): void {
    this.#discarded++
    work.refuse(1)
  }

  #startMeasuring(now: number): void {
    if (this.#timer !== undefined) return
    this.#completed = 0
    this.#measuredAt = now
    this.#timer = setInterval(() => this.#measure(), measureEveryMs).unref()
  }

  #measure(): void {
    const now = performance.now()
    const rate = this.#completed / (now - this.#measuredAt)
    this.#rate = this.#rate === undefined ? rate : newShare * rate + (1 - newShare) * this.#rate
    this.#completed = 0
    this.#measuredAt = now
    for (const work of this.#waiting) {
      if (work.discardAt > now) break
      this.#waiting.delete(work)
      this.#discard(work)
    }
    this.#startNext()
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
