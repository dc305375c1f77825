/**
 * How much of one turn of the event loop may be used to begin requests. The rest of the turn is for cached lookups,
 * health checks and the requests that run. A typical request takes 0.1 to 0.3 ms to begin, so about a hundred fit.
 */
const budgetMs = 20
/**
 * If it took longer to begin one request, the system probably interrupted the process. So at least a
 * hundred are begun.
 */
const maxOneMs = 0.2

/**
 * Limits the time for which requests are begun in one turn of the event loop. When it is used up, further requests
 * wait for the next turn, so that a flood of expensive requests does not make turns long.
 */
export class TurnBudget {
  readonly #onTurn: () => void
  #usedMs = 0
  #isTurnAwaited = false

  /** `onTurn` is called in the turn after one that used some of its budget, or in which `awaitTurn` was called. */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn
  }

  get isUsedUp(): boolean {
    return this.#usedMs >= budgetMs
  }

  spend(begin: () => void): void {
    const since = performance.now()
    begin()
    this.#usedMs += Math.min(maxOneMs, performance.now() - since)
    this.awaitTurn()
  }

  awaitTurn(): void {
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    setImmediate(() => {
      this.#isTurnAwaited = false
      this.#usedMs = 0
      this.#onTurn()
    })
  }
}
