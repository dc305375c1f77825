import { Effect, Exit } from "effect"
import { heldUpMs } from "../postgres/connections.ts"

export interface BatchOptions<Ask, Answer, E, Broken> {
  /** One statement for all. What came of each, in their order, is finished by whoever asked. */
  readonly run: (
    asks: ReadonlyArray<Ask>,
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<Answer, E | Broken>>, Broken>
  readonly maxStatements: number
  /** So many may be under way besides, in the place of those that seem to wait for a lock somebody keeps. */
  readonly maxHeldUp?: number
  /** So many besides, while enough wait to fill another one. */
  readonly maxFull?: number
  readonly maxAsks: number
  /** Beyond so many, no more than half of those that wait: who answers, and who asks next, has something to do meanwhile. */
  readonly evenAsks?: number
  /** Whether it may share a statement with these. */
  readonly fits?: (ask: Ask, others: ReadonlyArray<Ask>) => boolean
}

interface Waiting<Ask, Answer, E> {
  readonly ask: Ask
  readonly resume: (effect: Effect.Effect<Answer, E>) => void
}

/**
 * Asks the database for many at once. Who comes while fewer statements are under way than may be is served at once; the
 * others gather and share the next one, so a flood makes statements larger, not more numerous. Nobody waits in vain for
 * an asker that was interrupted: from asking to answering nobody is.
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
  type Waiter = Waiting<Ask, Answer, E | Broken>
  let waiting: Array<Waiter> = []
  const underWay = new Set<{ readonly since: number }>()
  let willLook = false

  const mayBegin = (): boolean => {
    const most = waiting.length < maxAsks ? maxStatements : maxStatements + maxFull
    if (underWay.size < most) return true
    if (underWay.size >= most + maxHeldUp) return false
    const heldUpSince = performance.now() - heldUpMs
    let going = 0
    for (const { since } of underWay) if (since > heldUpSince) going++
    return going < most
  }

  const takeNext = (): ReadonlyArray<Waiter> => {
    const taken: Array<Waiter> = []
    const asks: Array<Ask> = []
    const left: Array<Waiter> = []
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

  const goOn = (): void => {
    if (!mayBegin()) return
    const [first, ...others] = takeNext()
    if (first !== undefined) first.resume(lead(first.ask, others))
  }

  /** Nobody who waits is told by a statement that it is held up. */
  const lookLater = (): void => {
    if (willLook || maxHeldUp === 0) return
    willLook = true
    setTimeout(() => {
      willLook = false
      goOn()
      if (waiting.length > 0) lookLater()
    }, heldUpMs).unref()
  }

  /** The first to ask runs the statement and tells the others what came of it. */
  const lead = (own: Ask, others: ReadonlyArray<Waiter>): Effect.Effect<Answer, E | Broken> => {
    const statement = { since: performance.now() }
    underWay.add(statement)
    return Effect.suspend(() => Effect.exit(run([own, ...others.map(({ ask }) => ask)]))).pipe(
      Effect.flatMap((exit) => {
        underWay.delete(statement)
        goOn()
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
      if (waiting.length === 0 && mayBegin()) return lead(ask, [])
      return Effect.callback<Answer, E | Broken>((resume) => {
        waiting.push({ ask, resume })
        if (waiting.length >= maxAsks && maxFull > 0) goOn()
        lookLater()
      })
    })
}
