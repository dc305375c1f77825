import { Schema } from "effect"
import { LootBoxStatus } from "./lootbox.ts"

const BoxedId = Schema.Struct({ canonical: Schema.String, score: Schema.Finite })
export type BoxedId = typeof BoxedId.Type

const input = {
  id: Schema.String,
  typeId: Schema.NullOr(Schema.String),
  ids: Schema.Array(BoxedId),
}
const LootboxInput = Schema.Struct(input)
export type LootboxInput = typeof LootboxInput.Type

/** The stored context of a lootbox. */
export const LootboxContext = Schema.Struct({
  ...input,
  ownerId: Schema.NullOr(Schema.String),
  /** The order that bought the lootbox, or null. */
  orderId: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  openedAt: Schema.NullOr(Schema.String),
  deletedAt: Schema.NullOr(Schema.String),
  deletedFrom: Schema.NullOr(LootBoxStatus),
  /** When the contents last changed while the lootbox was on sale. Old snapshots do not have this member. */
  revisedAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
})
export type LootboxContext = typeof LootboxContext.Type
