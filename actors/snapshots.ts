import { Data, Effect, Result, Schema } from "effect"
import type { AnyMachineSnapshot, AnyStateMachine, ContextFrom } from "xstate"
import type { EntityRow } from "./ports.ts"

/** Describes how the snapshots of one machine are stored. */
export interface SnapshotFormat<M extends AnyStateMachine> {
  /**
   * Increase the version with each change that an older release cannot read. An optional new member needs no
   * increase.
   */
  readonly version: number
  readonly context: Schema.Codec<ContextFrom<M>, unknown>
  /**
   * Set if the release before cannot read one of the states. `write` returns the state under which it is stored, and
   * `read` finds it again with the context.
   */
  readonly states?: {
    readonly write: (value: string) => string
    readonly read: (value: string, context: ContextFrom<M>) => string
  }
}

/** A stored snapshot that this release must not use, because it is damaged or was written by a newer release. */
export class UnreadableSnapshot extends Data.TaggedError("UnreadableSnapshot")<{
  readonly entity: string
  readonly id: string
  readonly reason: string
}> {
  override get message(): string {
    return `The stored snapshot of ${this.entity} ${this.id} cannot be read: ${this.reason}`
  }
}

/** The version of snapshots that were stored without a version. */
const firstVersion = 1

/**
 * Checks a stored snapshot and converts it to a snapshot of the machine. Dies with `UnreadableSnapshot` if that is
 * not possible. The request then fails, the error is logged, and the stored row is not changed.
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
    // The stored object is used, not the decoded one: decoding would remove members that a newer release has added.
    const { context } = row
    const value = format.states?.read(checked.success.value, context as ContextFrom<M>) ?? row.value
    return Effect.succeed(machine.resolveState({ value: value as never, context: context as never }))
  }
}
