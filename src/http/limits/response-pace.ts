/**
 * The load of a response is 1, plus 1 for each 10 µs that its handler ran, up to 1 ms. If a handler ran for longer
 * than 1 ms, the system probably interrupted it.
 */
const loadPerMs = 100
const maxHandlerMs = 1
/**
 * When the counted load reaches this value, one response is watched and a `setImmediate` is scheduled. It runs at the
 * end of the turn and resets the count.
 */
const sampledLoad = 64
/** When the counted load has reached this value, all further responses of the turn are watched. */
const freeLoad = 2 * sampledLoad
const maxLoad = 5000
/** After a turn that reached its maximum load, this is the maximum load of a turn for one second. */
const maxLoadAfter = 1000
const afterMs = 1000

/**
 * Limits how many responses are written in one turn of the event loop, and selects the responses to watch.
 *
 * The library parses up to 512 KB of one connection in one native callback, which is 19,000 pipelined `GET /x`. Then
 * it does the same for the next connection. Meanwhile nothing else runs: no timer, no signal handler, no other
 * client. Measured with 20 connections that never read (2 cores, Node 20): `/health` did not respond within 20 s, and
 * SIGTERM had no effect for 30 s. The library does not report which connection a request belongs to. But it closes a
 * connection that sends a request while the previous request has no response. So when a turn reaches its maximum
 * load, `isOver` becomes true and further responses wait for the next turn. A client that waits for its response sees
 * no difference. A client that pipelined more requests is disconnected at its next request.
 *
 * A turn with the maximum load of 5000 took 50 to 90 ms of CPU time: either 5 to 10 µs for each precomputed lookup
 * including system calls, or 50 ms of handlers. So 50 connections may pipeline 100 lookups each. During an attack the
 * maximum is 1000, which took 10 to 20 ms. With a load average of 17 on 2 cores, `/health` then took 0.1 s, and at
 * most 0.8 s. The load is not measured as time, because on a busy machine a turn takes long without an attack.
 *
 * A watched response is checked for bytes that the client has not read, and is written in one system call (see
 * `writeBody`). The check costs about 1 µs, which is a fifth of a lookup. So only about one in 64 responses is
 * watched, and every response after the load of a turn has reached 128. With 64 connections that do not pipeline, a
 * turn never reaches that load.
 */
export class ResponsePace {
  #load = 0
  #maxLoad = maxLoad
  #wasOverUntil = 0
  #isTurnAwaited = false
  isOver = false

  /** Counts one response before it is written. Returns true if the response must be watched. */
  add(): boolean {
    return ++this.#load >= sampledLoad && this.#isSampled()
  }

  /** Counts one response like `add`, and the time for which its handler ran. */
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
      // The load of the next turn starts at a random value, so a client cannot place its requests between the
      // samples.
      this.#load = Math.floor((Math.random() * sampledLoad) / 2)
    })
  }
}
