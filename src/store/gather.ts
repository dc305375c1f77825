import { Effect, Exit } from "effect"

export interface GatherOptions<Ask, Answer, E, Broken> {
  /** One statement for all. What came of each, in their order, is finished by whoever asked. */
  readonly run: (
    asks: ReadonlyArray<Ask>,
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<Answer, E | Broken>>, Broken>
  readonly maxStatements: number
  readonly maxAsks: number
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
export const gather = <Ask, Answer, E, Broken>(options: GatherOptions<Ask, Answer, E, Broken>) => {
  const { fits = () => true, maxAsks, maxStatements, run } = options
  type Waiter = Waiting<Ask, Answer, E | Broken>
  let waiting: Array<Waiter> = []
  let underWay = 0

  const takeNext = (): ReadonlyArray<Waiter> => {
    const taken: Array<Waiter> = []
    const asks: Array<Ask> = []
    const left: Array<Waiter> = []
    for (const one of waiting) {
      if (asks.length > 0 && (asks.length >= maxAsks || !fits(one.ask, asks))) left.push(one)
      else {
        taken.push(one)
        asks.push(one.ask)
      }
    }
    waiting = left
    return taken
  }

  const goOn = (): void => {
    const [first, ...others] = takeNext()
    if (first === undefined) underWay--
    else first.resume(lead(first.ask, others))
  }

  /** The first to ask runs the statement and tells the others what came of it. */
  const lead = (own: Ask, others: ReadonlyArray<Waiter>): Effect.Effect<Answer, E | Broken> =>
    Effect.suspend(() => Effect.exit(run([own, ...others.map(({ ask }) => ask)]))).pipe(
      Effect.flatMap((exit) => {
        goOn()
        if (Exit.isFailure(exit)) {
          for (const { resume } of others) resume(Effect.failCause(exit.cause))
          return Effect.failCause(exit.cause)
        }
        for (let i = 0; i < others.length; i++) others[i]!.resume(exit.value[i + 1]!)
        return exit.value[0]!
      }),
    )

  return (ask: Ask): Effect.Effect<Answer, E | Broken> =>
    Effect.uninterruptibleMask(() => {
      if (underWay >= maxStatements) {
        return Effect.callback<Answer, E | Broken>((resume) => {
          waiting.push({ ask, resume })
        })
      }
      underWay++
      return lead(ask, [])
    })
}
