import { Effect, Exit } from "effect"
import { heldUpMs } from "../postgres/connections.ts"

export interface BatchOptions<Ask, Answer, E, Broken> {
  /**
   * Runs one statement for all requests. Returns one effect per request, in the same order. Each requester then runs
   * its effect to get its result.
   */
  readonly run: (
    asks: ReadonlyArray<Ask>,
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<Answer, E | Broken>>, Broken>
  readonly maxStatements: number
  /** The number of additional statements that may run while running statements seem to wait for a lock. */
  readonly maxHeldUp?: number
  /** The number of additional statements that may run while at least `maxAsks` requests wait. */
  readonly maxFull?: number
  readonly maxAsks: number
  /**
   * If at most this many requests wait, they all share the next statement. If more wait, the next statement contains
   * half of them, but at least this many. The others are left for the statement after it, so that this process and
   * the database work at the same time.
   */
  readonly evenAsks?: number
  /** Whether a request may be in the same statement as these other requests. */
  readonly fits?: (ask: Ask, others: ReadonlyArray<Ask>) => boolean
}

interface Waiting<Ask, Answer, E> {
  readonly ask: Ask
  readonly resume: (effect: Effect.Effect<Answer, E>) => void
}

/**
 * Combines concurrent requests to the database into few statements. While fewer than `maxStatements` run, a request
 * starts its own statement immediately. Other requests wait and share the next statement, so more load makes
 * statements larger, not more numerous. A request cannot be interrupted, because one request runs the statement for
 * the others.
 */
export const batchWrites = <Ask, Answer, E, Broken>(options: BatchOptions<Ask, Answer, E, Broken>) => {
  const {
    fits = () => true,
    maxAsks,
    evenAsks = maxAsks,
    maxFull = 0,
    maxHeldUp = 0,
    maxStatements,
    run,
  } = options
  type WaitingRequest = Waiting<Ask, Answer, E | Broken>
  let waiting: Array<WaitingRequest> = []
  const running = new Set<{ readonly since: number }>()
  let isCheckScheduled = false

  const mayStart = (): boolean => {
    const most = waiting.length < maxAsks ? maxStatements : maxStatements + maxFull
    if (running.size < most) return true
    if (running.size >= most + maxHeldUp) return false
    const heldUpSince = performance.now() - heldUpMs
    let active = 0
    for (const { since } of running) if (since > heldUpSince) active++
    return active < most
  }

  const takeBatch = (): ReadonlyArray<WaitingRequest> => {
    const taken: Array<WaitingRequest> = []
    const asks: Array<Ask> = []
    const left: Array<WaitingRequest> = []
    const most = Math.min(maxAsks, Math.max(evenAsks, Math.ceil(waiting.length / 2)))
    for (const one of waiting) {
      if (asks.length > 0 && (asks.length >= most || !fits(one.ask, asks))) left.push(one)
      else {
        taken.push(one)
        asks.push(one.ask)
      }
    }
    waiting = left
    return taken
  }

  const startNext = (): void => {
    if (!mayStart()) return
    const [first, ...others] = takeBatch()
    if (first !== undefined) first.resume(lead(first.ask, others))
  }

  /**
   * Checks repeatedly whether waiting requests may start, because a statement that waits for a lock gives no signal.
   */
  const scheduleCheck = (): void => {
    if (isCheckScheduled || maxHeldUp === 0) return
    isCheckScheduled = true
    setTimeout(() => {
      isCheckScheduled = false
      startNext()
      if (waiting.length > 0) scheduleCheck()
    }, heldUpMs).unref()
  }

  /**
   * Runs the statement of the first request. It then resumes the other requests of the statement with their results.
   */
  const lead = (own: Ask, others: ReadonlyArray<WaitingRequest>): Effect.Effect<Answer, E | Broken> => {
    const statement = { since: performance.now() }
    running.add(statement)
    return Effect.suspend(() => Effect.exit(run([own, ...others.map(({ ask }) => ask)]))).pipe(
      Effect.flatMap((exit) => {
        running.delete(statement)
        startNext()
        if (Exit.isFailure(exit)) {
          for (const { resume } of others) resume(Effect.failCause(exit.cause))
          return Effect.failCause(exit.cause)
        }
        for (let i = 0; i < others.length; i++) others[i]!.resume(exit.value[i + 1]!)
        return exit.value[0]!
      }),
    )
  }

  return (ask: Ask): Effect.Effect<Answer, E | Broken> =>
    Effect.uninterruptibleMask(() => {
      if (waiting.length === 0 && mayStart()) return lead(ask, [])
      return Effect.callback<Answer, E | Broken>((resume) => {
        waiting.push({ ask, resume })
        if (waiting.length >= maxAsks && maxFull > 0) startNext()
        scheduleCheck()
      })
    })
}
