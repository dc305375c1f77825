import {
  type AnyActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type ExecutableActionObject,
} from "xstate"

const nothing = () => {}

/**
 * Makes pure functions from a machine. XState's own `transition` creates an actor and an unused initial state for each
 * call. Our machines start no actors and send no events, so one actor that never runs is enough for all turns. They
 * also run no actions when they enter the initial state, so initial snapshots differ only in their context.
 */
export const makeTransition = (machine: AnyStateMachine) => {
  const self = createActor(machine)
  const { value } = self.getSnapshot()
  const contextOf: unknown = machine.config.context
  let actions: Array<ExecutableActionObject> = []
  const scope: AnyActorScope = {
    self,
    system: self.system,
    id: "",
    sessionId: "",
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: (action) => {
      actions.push(action)
    },
  }
  return {
    /** Computes the initial snapshot of a new entity. */
    first: (input: unknown): AnyMachineSnapshot =>
      machine.resolveState({
        value,
        context: typeof contextOf === "function" ? contextOf({ input }) : contextOf,
      }),
    /** Computes the next snapshot and the requested actions. Undefined if the machine refuses the event. */
    next: (
      snapshot: AnyMachineSnapshot,
      event: AnyEventObject,
    ): readonly [AnyMachineSnapshot, ReadonlyArray<ExecutableActionObject>] | undefined => {
      actions = []
      const next = machine.transition(snapshot, event, scope)
      return next === snapshot ? undefined : [next, actions]
    },
  }
}
