import { Context, type Effect, Layer } from "effect"
import { lootboxMachine } from "../machines/lootboxes/lootbox.ts"
import { LootboxContext } from "../schema/lootboxes/lootbox-snapshot.ts"
import { makeHost } from "./host.ts"

const make = makeHost({
  entity: "lootbox",
  machine: lootboxMachine,
  format: { version: 1, context: LootboxContext },
  columns: ({ context, value }) => ({
    status: value,
    owner_id: context.ownerId,
    peer_id: null,
    subject: context.typeId,
    due_at: null,
  }),
  operations: { REVISE: "update", BUY: "buy", OPEN: "open", DELETE: "delete" },
})

export class LootboxActors extends Context.Service<LootboxActors, Effect.Success<typeof make>>()(
  "directory/LootboxActors",
) {
  static readonly layer = Layer.effect(LootboxActors, make)
}
