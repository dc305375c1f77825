import { Data, Effect, Result, Schema } from "effect"
import type { AnyMachineSnapshot, AnyStateMachine, ContextFrom } from "xstate"
import type { EntityRow } from "./ports.ts"

/** The format in which the snapshots of one machine are stored. */
export interface SnapshotFormat<M extends AnyStateMachine> {
  /** Increase it with every change that an older release cannot read. New optional members need no new version. */
  readonly version: number
  readonly context: Schema.Codec<ContextFrom<M>, unknown>
}

/** A stored snapshot that this release must not use: it is damaged, or a newer release wrote it. */
export class UnreadableSnapshot extends Data.TaggedError("UnreadableSnapshot")<{
  readonly entity: string
  readonly id: string
  readonly reason: string
}> {
  override get message(): string {
    return `The stored snapshot of ${this.entity} ${this.id} cannot be read: ${this.reason}`
  }
}

/** Snapshots stored before they had a version. */
const firstVersion = 1

/**
 * Checks a stored snapshot and turns it into one of the machine. It dies with `UnreadableSnapshot` if that is not
 * possible, so the request fails, the error is logged, and the row stays as it is.
 */
export const makeReadSnapshot = <M extends AnyStateMachine>(
  entity: string,
  machine: M,
  format: SnapshotFormat<M>,
) => {
  const check = Schema.decodeUnknownResult(
    Schema.Struct({ value: Schema.Literals(Object.keys(machine.states)), context: format.context }),
  )
  return (id: string, row: EntityRow): Effect.Effect<AnyMachineSnapshot> => {
    const unreadable = (reason: string) => Effect.die(new UnreadableSnapshot({ entity, id, reason }))
    const stored = row.format ?? firstVersion
    if (typeof stored !== "number" || stored > format.version) {
      return unreadable(`It has format ${stored}. This release reads formats up to ${format.version}.`)
    }
    const checked = check(row)
    if (Result.isFailure(checked)) return unreadable(checked.failure.message)
    // The stored object, not the decoded one: decoding removes members that a newer release has added.
    const { context, value } = row
    return Effect.succeed(machine.resolveState({ value: value as never, context: context as never }))
  }
}
