import { Cause, Context, Data, type Exit } from "effect"
import type { Client } from "./client.ts"

type Statement = (client: Client) => ReturnType<Client>

/**
 * A condition of a write that changes cached data: every process that may use its caches has acknowledged the change.
 * The database checks it in the statement itself (`check_fence`).
 */
export interface Fence {
  /** The members of the cluster that have acknowledged. */
  readonly acked: ReadonlyArray<string>
  /** The acknowledgements hold until then: milliseconds since 1970, by the clock of the database. */
  readonly deadline: number
}

/** The write that the current fiber runs. */
export interface RunningWrite {
  /** Undefined if no other process can use the database. */
  readonly fence: Fence | undefined
  /** Must be called when it is unknown whether a statement of the write was committed, even if it is sent again. */
  readonly lost: () => void
}

/** Every statement that runs while this is set is fenced. Reads should run before or after the write. */
export const CurrentWrite = Context.Reference<RunningWrite | undefined>("directory/CurrentWrite", {
  defaultValue: () => undefined,
})

/** The database refused the fence and changed nothing. A defect, so that only the code that made the fence handles it. */
export class FenceRefused extends Data.TaggedError("FenceRefused")<{
  /** Members that have not acknowledged. Empty if the deadline has passed. */
  readonly silent: ReadonlyArray<string>
}> {}

/** The SQLSTATEs that `check_fence` raises. */
export const fenceStates: ReadonlySet<string> = new Set(["EI005", "EI006"])

export const findFenceRefusal = (exit: Exit.Exit<unknown, unknown>): FenceRefused | undefined => {
  if (exit._tag === "Success") return undefined
  const reason = exit.cause.reasons.find(Cause.isDieReason)
  return reason?.defect instanceof FenceRefused ? reason.defect : undefined
}

/** One fence for a statement that runs several writes. */
export const joinWrites = (writes: ReadonlyArray<RunningWrite | undefined>): RunningWrite | undefined => {
  const running = writes.filter((write) => write !== undefined)
  if (running.length < 2) return running[0]
  const fences = running.flatMap(({ fence }) => fence ?? [])
  const [first, ...others] = fences
  const isAckedByAll = (id: string) => others.every(({ acked }) => acked.includes(id))
  return {
    fence: first && {
      acked: first.acked.filter(isAckedByAll),
      deadline: Math.min(...fences.map(({ deadline }) => deadline)),
    },
    lost: () => {
      for (const { lost } of running) lost()
    },
  }
}

/** The call that checks the fence. It returns true, or raises one of `fenceStates`. */
export const fenceCheck = (q: Client, fence: Fence) => q`check_fence(${JSON.stringify(fence)}::text::jsonb)`

/**
 * Adds the check to a statement, if there is a fence. The statement must return rows, and must not begin with a WITH that
 * changes data: in Postgres, such a WITH is allowed only at the top level.
 */
export const fenced =
  (statement: Statement) =>
  (fence: Fence | undefined): Statement =>
    fence === undefined
      ? statement
      : (q) =>
          q`with fence as materialized (select ${fenceCheck(q, fence)} as ok),
                 effect as (${statement(q)})
            select effect.* from effect where (select ok from fence)`
