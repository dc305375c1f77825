import { expect, it } from "vitest"
import { type AnyStateMachine, createActor } from "xstate"
import { makeTransition } from "../../actors/transition.ts"
import { sessionMachine } from "../../machines/accounts/two-factor-session.ts"
import { lootboxMachine } from "../../machines/lootboxes/lootbox.ts"
import { orderMachine } from "../../machines/orders/order.ts"
import { transferMachine } from "../../machines/transfers/transfer.ts"

const machines: ReadonlyArray<readonly [machine: AnyStateMachine, input: unknown]> = [
  [orderMachine, { id: "o", userId: "u", createdAt: "2026-01-01T00:00:00.000Z" }],
  [sessionMachine, { id: "s", userId: "u", epoch: 3 }],
  [
    transferMachine,
    {
      id: "t",
      eid: "🚀🌊🔥",
      sender: { id: "a", email: null },
      recipient: { id: "b", email: "b@example.com" },
      pubkey: null,
      clearOnTransfer: true,
      message: "hi",
      forced: false,
    },
  ],
  [lootboxMachine, { id: "l", typeId: null, ids: [] }],
]

it.each(machines)(
  "`makeTransition` creates the same first snapshot of the machine $id as an XState actor",
  (machine, input) => {
    const first = makeTransition(machine).first(input)
    const actors = createActor(machine, { input })
    expect(machine.getPersistedSnapshot(first)).toEqual(actors.getPersistedSnapshot())
  },
)

it.each(machines)("the machine $id runs no actions when it starts", (machine, input) => {
  const done: Array<string> = []
  createActor(machine, { input, inspect: ({ type }) => type === "@xstate.action" && done.push(type) }).start()
  expect(done).toEqual([])
})
