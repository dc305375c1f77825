import { Cause, Effect, Exit, Option } from "effect"
import type { CommitFailure, TurnCommit } from "../../actors/ports.ts"
import type { Counter, Histogram, Registry } from "../telemetry/registry.ts"

const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
const delayBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600]

/** Returns a function that records how many requests of this kind shared a statement. */
export const recordBatches = (metrics: Registry, batch: string): ((requests: number) => void) => {
  const sizes = metrics.histogram("postgres_batch_size", "Requests that shared one statement", sizeBounds, {
    labels: { batch },
  })
  return (requests) => sizes.observe(requests)
}

/** How long after its deadline an entity was found by a sweep. */
export const deadlineDelays = (metrics: Registry): Histogram =>
  metrics.histogram(
    "deadline_delay_seconds",
    "How long after its deadline an entity was found by the sweep. A deadline whose turn failed is found again",
    delayBounds,
  )

const outcomeOf = (exit: Exit.Exit<unknown, CommitFailure>): string => {
  if (Exit.isSuccess(exit)) return "committed"
  const failure = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  switch (failure?._tag) {
    case "VersionConflict":
    case "UniqueConflict":
      return "conflict"
    case "IdsTaken":
    case "LimitReached":
      return "rejected"
    case "Unavailable":
      return "unavailable"
    default:
      return "defect"
  }
}

/** Returns a function that counts a turn by the state that it leads to, and by the outcome of its commit. */
export const countTurns = (metrics: Registry) => {
  const counters = new Map<string, Counter>()
  const count = ({ columns, kind }: TurnCommit, outcome: string) => {
    const key = `${kind} ${columns.status} ${outcome}`
    const counter =
      counters.get(key) ??
      metrics.counter(
        "turns_total",
        "Turns by the state that they lead to. conflict: the entity had changed, and the turn was decided again. " +
          "rejected: an id was taken or a limit was reached",
        { labels: { entity: kind, state: columns.status, outcome } },
      )
    counters.set(key, counter)
    counter.add()
  }
  return <A, E extends CommitFailure>(turn: TurnCommit, commit: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.onExit(commit, (exit) => Effect.sync(() => count(turn, outcomeOf(exit))))
}
