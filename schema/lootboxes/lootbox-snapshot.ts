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
  /** The order that bought the box. */
  orderId: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  openedAt: Schema.NullOr(Schema.String),
  deletedAt: Schema.NullOr(Schema.String),
  deletedFrom: Schema.NullOr(LootBoxStatus),
  /** When its contents last changed while it was on sale. Absent in boxes stored before this member existed. */
  revisedAt: Schema.optionalKey(Schema.NullOr(Schema.String)),
})
export type LootboxContext = typeof LootboxContext.Type
