import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Cause, Effect, Exit, type Schema } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import type { AnyMachineSnapshot, AnyStateMachine } from "xstate"
import { OrderActors } from "../../actors/order.ts"
import type { EntityRow } from "../../actors/ports.ts"
import { makeReadSnapshot } from "../../actors/snapshots.ts"
import { makeTransition } from "../../actors/transition.ts"
import { sessionMachine } from "../../machines/accounts/two-factor-session.ts"
import { lootboxMachine } from "../../machines/lootboxes/lootbox.ts"
import { orderMachine } from "../../machines/orders/order.ts"
import { transferMachine } from "../../machines/transfers/transfer.ts"
import { SessionContext } from "../../schema/accounts/session-snapshot.ts"
import { LootboxContext } from "../../schema/lootboxes/lootbox-snapshot.ts"
import { OrderContext } from "../../schema/orders/order-snapshot.ts"
import { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"
import { serve } from "../fixtures/service.ts"
import { machineWalks } from "./machine-walks.ts"

const readerOf = (kind: string, machine: AnyStateMachine, context: Schema.Top) =>
  makeReadSnapshot(kind, machine, { version: 1, context: context as never })
const machines = {
  order: orderMachine,
  session: sessionMachine,
  lootbox: lootboxMachine,
  transfer: transferMachine,
}
const readers = {
  order: readerOf("order", orderMachine, OrderContext),
  session: readerOf("session", sessionMachine, SessionContext),
  lootbox: readerOf("lootbox", lootboxMachine, LootboxContext),
  transfer: readerOf("transfer", transferMachine, TransferContext),
}
type Kind = keyof typeof readers

const read = (kind: Kind, row: Omit<EntityRow, "version">) =>
  Effect.runSyncExit(readers[kind]("the-id", { version: 1, ...row }))
const messageOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "it was read"

const stored = JSON.parse(
  readFileSync(join(import.meta.dirname, "snapshots-format-1.json"), "utf8"),
) as ReadonlyArray<{ readonly kind: Kind; readonly value: string; readonly context: Record<string, unknown> }>

it.each(stored)(
  "a snapshot of $kind in the state $value can be read if it was stored without a format version",
  (row) => {
    const exit = read(row.kind, { value: row.value, context: row.context })
    expect(Exit.isSuccess(exit) && exit.value).toMatchObject({ value: row.value, context: row.context })
  },
)

it.each(stored)(
  "a snapshot of $kind in the state $value is rejected if a member is missing or has the wrong type",
  ({ context, kind, value }) => {
    const member = Object.keys(context).find((name) => typeof context[name] === "string")!
    expect(messageOf(read(kind, { value, context: { ...context, [member]: 5 } }))).toBe(
      `UnreadableSnapshot: The stored snapshot of ${kind} the-id cannot be read: Expected string\n  at ["context"]["${member}"]`,
    )
    const { id: _, ...rest } = context
    expect(messageOf(read(kind, { value, context: rest }))).toContain('at ["context"]["id"]')
  },
)

it.each(Object.keys(readers) as Array<Kind>)(
  "a snapshot of '%s' with an unknown state or without a state is rejected",
  (kind) => {
    const { context } = stored.find((row) => row.kind === kind)!
    expect(messageOf(read(kind, { value: "Lost", context }))).toContain('at ["value"]')
    expect(messageOf(read(kind, { value: null, context: null }))).toContain(`${kind} the-id cannot be read`)
  },
)

it("a snapshot is rejected if its format version is newer or is not a number", () => {
  const { context, kind, value } = stored[0]!
  for (const format of [2, "1"]) {
    expect(messageOf(read(kind, { value, context, format }))).toContain(
      `It has format ${format}. This release reads formats up to 1.`,
    )
  }
})

it("a snapshot that is read keeps unknown members, which a newer release may have added", () => {
  const { context, kind, value } = stored[0]!
  const exit = read(kind, { value, context: { ...context, added: 1 }, format: 1 })
  expect(Exit.isSuccess(exit) && exit.value.context).toEqual({ ...context, added: 1 })
})

it.each(Object.keys(readers) as Array<Kind>)(
  "every snapshot that the %s machine produces can be converted to JSON and read back",
  (kind) => {
    const { events, input } = machineWalks[kind]
    const turns = makeTransition(machines[kind])
    const visited = new Set<string>()
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 12 }), (walk) => {
        let snapshot: AnyMachineSnapshot = turns.first(input)
        for (const event of walk) {
          snapshot = turns.next(snapshot, event)?.[0] ?? snapshot
          const { context, value } = JSON.parse(JSON.stringify(snapshot))
          const exit = read(kind, { context, value, format: 1 })
          expect(messageOf(exit)).toBe("it was read")
          const back = (exit as Exit.Success<AnyMachineSnapshot>).value
          expect([back.value, back.status, back.context]).toEqual([value, snapshot.status, context])
          visited.add(value)
        }
      }),
      { numRuns: 300, seed: 1 },
    )
    const neverStored = ["New"]
    expect([...visited].filter((state) => !neverStored.includes(state)).toSorted()).toEqual(
      Object.keys(machines[kind].states)
        .filter((state) => !neverStored.includes(state))
        .toSorted(),
    )
  },
)

it("an order is stored with its format version, and is not overwritten if its snapshot cannot be read", async () => {
  const service = await serve()
  const id = randomUUID()
  const userId = (await service.user()).id
  const at = new Date(0).toISOString()
  const item = {
    id: randomUUID(),
    type: "EmojiId",
    claim: "🚀",
    cents: 400,
    createdAt: at,
    updatedAt: at,
  } as const
  const actors = await service.runtime.runPromise(OrderActors)
  const add = actors.send(id, { type: "add", items: [item], at }, { create: { id, userId, createdAt: at } })
  await service.runtime.runPromise(add)
  const state = async () => (await service.sql`select state from entity where id = ${id}`)[0]?.["state"]
  expect(await state()).toMatchObject({ value: "Draft", format: 1 })

  actors.passivate(id)
  await service.sql`update entity set state = jsonb_set(state, '{context,items}', '"none"') where id = ${id}`
  const damaged = await state()
  const found = await service.runtime.runPromiseExit(actors.find(id))
  expect(messageOf(found)).toContain(`The stored snapshot of order ${id} cannot be read: Expected array`)
  const added = await service.runtime.runPromiseExit(actors.send(id, { type: "clear", at }))
  expect(messageOf(added)).toContain(`order ${id} cannot be read`)
  expect(await state()).toEqual(damaged)
})
