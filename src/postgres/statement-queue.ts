import type { Connection, Connections } from "./connections.ts"
import { isLate, isTooLate, type RequestTime } from "./request-time.ts"

/** A statement that has not been given to the client yet. */
export interface WaitingStatement {
  readonly since: number
  /** Lookups and health checks. They run before the other statements, and also on the spare connection. */
  readonly isUrgent: boolean
  readonly time: RequestTime | undefined
  readonly start: (connection: Connection) => void
  /** Called instead of `start` if the request of the statement waited too long. */
  readonly discard: () => void
  /** Called instead of `start` if no connection became free within the time limit of a statement. */
  readonly giveUp: () => void
}

interface QueueOptions {
  readonly connections: () => Connections
  readonly deadlineMs: number
}

const checkEveryMs = 50

/**
 * Statements that wait for a connection. The client gets few statements per connection, because it sends all that it
 * gets: a statement that waits in the socket behind a lock or a stalled link cannot be taken back, and would run long
 * after its request was answered. Here it can be discarded.
 */
export class StatementQueue {
  readonly #urgent = new Set<WaitingStatement>()
  readonly #others = new Set<WaitingStatement>()
  readonly #options: QueueOptions
  #timer: NodeJS.Timeout | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#urgent.size + this.#others.size
  }

  /** How long the first statement has waited; 0 if none waits. */
  oldestWaitMs(now: number): number {
    let oldest = now
    for (const waiting of [this.#urgent, this.#others])
      for (const { since } of waiting) {
        oldest = Math.min(oldest, since)
        break
      }
    return now - oldest
  }

  add(one: WaitingStatement): void {
    const now = performance.now()
    const same = one.isUrgent ? this.#urgent : this.#others
    const connection = same.size === 0 ? this.#free(one, now) : undefined
    if (isTooLate(one.time, now)) one.discard()
    else if (connection !== undefined) one.start(connection)
    else {
      same.add(one)
      this.#timer ??= setInterval(() => this.#check(), checkEveryMs).unref()
    }
  }

  remove(one: WaitingStatement): void {
    this.#urgent.delete(one)
    this.#others.delete(one)
  }

  /** Starts waiting statements on the free connections. Called when a connection becomes free. */
  startNext(): void {
    for (const waiting of [this.#urgent, this.#others]) {
      for (const one of waiting) {
        const connection = this.#free(one, performance.now())
        if (connection === undefined) break
        waiting.delete(one)
        if (isLate(one.time, performance.now())) one.discard()
        else one.start(connection)
      }
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #free({ isUrgent }: WaitingStatement, now: number): Connection | undefined {
    return this.#options.connections().free(now, isUrgent)
  }

  /** Also starts statements, because a connection that was refused becomes usable again without a signal. */
  #check(): void {
    const now = performance.now()
    for (const waiting of [this.#urgent, this.#others]) {
      for (const one of waiting) {
        const late = isLate(one.time, now)
        if (!late && now - one.since <= this.#options.deadlineMs) continue
        waiting.delete(one)
        if (late) one.discard()
        else one.giveUp()
      }
    }
    this.startNext()
    if (this.size === 0) this.stop()
  }
}
