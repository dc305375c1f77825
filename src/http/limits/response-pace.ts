/** The load of one answer is 1, and 1 more for each 10 µs of its handler. Longer than 1 ms, a handler was interrupted. */
const loadPerMs = 100
const maxHandlerMs = 1
/** At this load the event loop is asked when it turns next. */
const sampledLoad = 64
/** From here on every answer of the same turn is watched. */
const freeLoad = 2 * sampledLoad
const maxLoad = 5000
/** The full load for a second after a turn that was over it. */
const maxLoadAfter = 1000
const afterMs = 1000

/**
 * Limits the answers that are written before the event loop turns, and says which of them must be watched.
 *
 * The library parses up to 512 KB of one connection in one native callback, that is 19,000 pipelined `GET /x`, and then the
 * same of the next connection. Nothing else runs meanwhile: no timer, no signal, no other client. Measured with 20
 * connections that never read (2 cores, Node 20): no `/health` was answered within 20 s, and SIGTERM had no effect for 30 s.
 * It does not say which connection a request belongs to, but it closes a connection that sends a request while the one
 * before is unanswered. So once a turn has its full load, answers wait for the next turn (`isOver`): a client that waits for
 * its answer notices nothing, and one that has pipelined more is closed by its next request.
 *
 * The full load of 5000 took 50 to 90 ms of processor time: 5 to 10 µs for each prepared lookup, system calls included, or 50 ms
 * of handlers. So 50 connections may pipeline 100 lookups each. While an attack goes on the full load is 1000, which took 10
 * to 20 ms. On a machine with a load average of 17 on 2 cores, `/health` then took 0.1 s, and 0.8 s at most. The load is not plain
 * time, because a turn on a busy machine takes long without any attack.
 *
 * A watched answer is checked for bytes that the client has not read, and written in one system call (see `sendBody`). The
 * check costs about 1 µs, a fifth of a lookup, so only one in 64 answers is watched, and all beyond 128 in one turn. With 64
 * connections that do not pipeline, a turn never has that many.
 */
export class AnswerPace {
  #load = 0
  #maxLoad = maxLoad
  #wasOverUntil = 0
  #isTurnAwaited = false
  isOver = false

  /** Counts one answer that is about to be written. Whether it must be watched. */
  add(): boolean {
    return ++this.#load >= sampledLoad && this.#isSampled()
  }

  /** The same for the answer of a handler that took so long. */
  addHandled(ms: number): boolean {
    this.#load += Math.round(Math.min(ms, maxHandlerMs) * loadPerMs)
    return this.add()
  }

  #isSampled(): boolean {
    if (!this.#isTurnAwaited) {
      this.#awaitTurn()
      return true
    }
    if (this.#load < freeLoad) return false
    if (this.#load >= this.#maxLoad) this.isOver = true
    return true
  }

  #awaitTurn(): void {
    this.#isTurnAwaited = true
    const now = performance.now()
    this.#maxLoad = now < this.#wasOverUntil ? maxLoadAfter : maxLoad
    setImmediate(() => {
      if (this.isOver) this.#wasOverUntil = now + afterMs
      this.#isTurnAwaited = false
      this.isOver = false
      // A random start: a client cannot place its requests between the samples.
      this.#load = Math.floor((Math.random() * sampledLoad) / 2)
    })
  }
}
