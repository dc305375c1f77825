import { Effect, Exit } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { heldUpMs } from "../postgres/connections.ts"
import { CurrentWrite, findFenceRefusal, joinWrites, type RunningWrite } from "../postgres/fence.ts"
import {
  CurrentRequestTime,
  isLate,
  isTooLate,
  type RequestTime,
  waitedTooLong,
} from "../postgres/request-time.ts"

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
  /** Called with the number of requests of each statement. */
  readonly onStatement?: (requests: number) => void
  /** Whether a request may be in the same statement as these other requests. */
  readonly fits?: (ask: Ask, others: ReadonlyArray<Ask>) => boolean
}

interface Waiting<Ask, Answer, E> {
  readonly ask: Ask
  readonly time: RequestTime | undefined
  readonly write: RunningWrite | undefined
  readonly resume: (effect: Effect.Effect<Answer, E>) => void
}

/** The time of a statement with several requests. It is discarded only when all of them are late. */
class BatchTime implements RequestTime {
  readonly discardAt: number
  readonly isStrict: boolean
  readonly #times: ReadonlyArray<RequestTime | undefined>
  #hasWritten = false

  constructor(times: ReadonlyArray<RequestTime | undefined>) {
    this.#times = times
    this.isStrict = times.every((time) => time?.isStrict)
    this.discardAt = Math.max(
      ...times.map((time) =>
        time === undefined || time.hasWritten ? Number.POSITIVE_INFINITY : time.discardAt,
      ),
    )
  }

  get hasWritten(): boolean {
    return this.#hasWritten
  }

  set hasWritten(value: boolean) {
    this.#hasWritten = value
    if (value) for (const time of this.#times) if (time !== undefined) time.hasWritten = true
  }
}

/**
 * Combines concurrent requests to the database into few statements. While fewer than `maxStatements` run, a request
 * starts its own statement immediately. Other requests wait and share the next statement, so more load makes
 * statements larger, not more numerous. A request cannot be interrupted, because one request runs the statement for
 * the others. The statement has the fences of all its requests.
 */
export const batchWrites = <Ask, Answer, E, Broken>(options: BatchOptions<Ask, Answer, E, Broken>) => {
  const {
    fits = () => true,
    maxAsks,
    evenAsks = maxAsks,
    maxFull = 0,
    maxHeldUp = 0,
    maxStatements,
    onStatement,
    run,
  } = options
  type WaitingRequest = Waiting<Ask, Answer, E | Broken | Unavailable>
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
    discardLate()
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
    if (first !== undefined) first.resume(lead(first, others))
  }

  const discardLate = (): void => {
    const now = performance.now()
    const late = waiting.filter(({ time }) => isLate(time, now))
    if (late.length === 0) return
    waiting = waiting.filter(({ time }) => !isLate(time, now))
    for (const { resume } of late) resume(Effect.fail(waitedTooLong))
  }

  /**
   * Checks repeatedly whether waiting requests may start or must be discarded, because a statement that waits for a
   * lock gives no signal.
   */
  const scheduleCheck = (): void => {
    if (isCheckScheduled) return
    isCheckScheduled = true
    setTimeout(() => {
      isCheckScheduled = false
      discardLate()
      startNext()
      if (waiting.length > 0) scheduleCheck()
    }, heldUpMs).unref()
  }

  /**
   * The result of a request. If the fence of the statement was refused, nothing was written. A request without a fence
   * of its own did not cause that, so it runs again.
   */
  const settle = (
    { ask, write }: Pick<WaitingRequest, "ask" | "write">,
    shared: RunningWrite | undefined,
    answer: Effect.Effect<Answer, E | Broken>,
  ): Effect.Effect<Answer, E | Broken | Unavailable> =>
    write?.fence !== undefined || shared?.fence === undefined
      ? answer
      : Effect.flatMap(Effect.exit(answer), (exit) => (findFenceRefusal(exit) ? request(ask) : exit))

  /**
   * Runs the statement of the first request. It then resumes the other requests of the statement with their results.
   */
  const lead = (
    own: Pick<WaitingRequest, "ask" | "time" | "write">,
    others: ReadonlyArray<WaitingRequest>,
  ): Effect.Effect<Answer, E | Broken | Unavailable> => {
    const statement = { since: performance.now() }
    running.add(statement)
    const all = [own, ...others]
    onStatement?.(all.length)
    const write = joinWrites(all.map((one) => one.write))
    return Effect.suspend(() => Effect.exit(run(all.map(({ ask }) => ask)))).pipe(
      Effect.provideService(CurrentRequestTime, new BatchTime(all.map(({ time }) => time))),
      Effect.provideService(CurrentWrite, write),
      Effect.flatMap((exit) => {
        running.delete(statement)
        startNext()
        if (Exit.isFailure(exit)) {
          for (const other of others) other.resume(settle(other, write, Effect.failCause(exit.cause)))
          return settle(own, write, Effect.failCause(exit.cause))
        }
        for (let i = 0; i < others.length; i++)
          others[i]!.resume(settle(others[i]!, write, exit.value[i + 1]!))
        return settle(own, write, exit.value[0]!)
      }),
    )
  }

  const request = (ask: Ask): Effect.Effect<Answer, E | Broken | Unavailable> =>
    Effect.uninterruptible(
      Effect.withFiber((fiber) => {
        const time = fiber.getRef(CurrentRequestTime)
        const write = fiber.getRef(CurrentWrite)
        if (isTooLate(time, performance.now())) return Effect.fail(waitedTooLong)
        if (waiting.length === 0 && mayStart()) return lead({ ask, time, write }, [])
        return Effect.callback<Answer, E | Broken | Unavailable>((resume) => {
          waiting.push({ ask, time, write, resume })
          if (waiting.length >= maxAsks && maxFull > 0) startNext()
          scheduleCheck()
        })
      }),
    )
  return request
}
