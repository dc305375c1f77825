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
 * The machine as a function. XState's own `transition` makes an actor for each call, with an initial state nobody looks at;
 * our machines start no actors and send nothing, so one that never runs will do for all their turns. They do nothing on the
 * way to their initial state either, so it is the same for all but for its context.
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
    /** The state it begins in. */
    first: (input: unknown): AnyMachineSnapshot =>
      machine.resolveState({
        value,
        context: typeof contextOf === "function" ? contextOf({ input }) : contextOf,
      }),
    /** The next state, and what the machine wants done. Nothing when the state does not answer to the event. */
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
