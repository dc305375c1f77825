import { Schema } from "effect"
import { Email } from "../accounts/email.ts"
import { DisplayUser } from "../accounts/user.ts"
import { EmojiIdFromString } from "../directory/emoji-id.ts"
import { pageOf } from "../paging.ts"
import { Cents, DateTime, optional, text, Uuid, words } from "../wire-format.ts"

export const LootBoxStatus = words("LootBoxStatus", ["Draft", "Available", "Owned", "Used"])
export type LootBoxStatus = typeof LootBoxStatus.Type

export const maxIdsPerBox = 50
export const maxBoxesPerRequest = 100
const maxRules = 50

/**
 * The key of the lootbox itself in the table `claim`. An order can buy the lootbox only while this key has no claim.
 */
export const lootboxKey = (boxId: string): string => `lootbox:${boxId}`

const Guarantee = Schema.Struct({ count: Schema.Int, min_score: Schema.Int, max_score: Schema.Int }).annotate(
  {
    identifier: "LootBoxGuarantee",
    description: "Every box contains this many ids with a score in this range.",
  },
)
const Weight = Schema.Struct({
  ipr: Schema.Finite,
  min_score: Schema.Int,
  max_score: Schema.Int,
}).annotate({
  identifier: "LootBoxWeight",
  description:
    "Each id that is not guaranteed has a score in this range with a chance of 1 in `ipr`. If no weight applies, its score is in the base range. If the chances sum to more than 1, they are scaled down proportionally.",
})

export const LootBoxTypeConfig = Schema.Struct({
  size: Schema.Int,
  min_length: Schema.Int,
  max_length: Schema.Int,
  min_base_score: Schema.Int,
  max_base_score: Schema.Int,
  guarantees: Schema.Array(Guarantee).check(Schema.isMaxLength(maxRules)),
  weights: Schema.Array(Weight).check(Schema.isMaxLength(maxRules)),
}).annotate({ identifier: "LootBoxTypeConfig" })
export type LootBoxTypeConfig = typeof LootBoxTypeConfig.Type

export const AdminNewLootBoxType = Schema.Struct({
  name: text(200),
  description: text(2000),
  config: LootBoxTypeConfig,
}).annotate({ identifier: "AdminNewLootBoxType" })

export const PublicLootBoxType = Schema.Struct({
  id: Uuid,
  created_at: DateTime,
  name: Schema.String,
  description: Schema.String,
  config: LootBoxTypeConfig,
}).annotate({ identifier: "PublicLootBoxType" })
export type PublicLootBoxType = typeof PublicLootBoxType.Type

export const PublicLootBox = Schema.Struct({
  id: Uuid,
  created_at: DateTime,
  status: LootBoxStatus,
  /** The current prices of the emoji ids inside, in US cents. */
  prices: Schema.Array(Cents),
  scores: Schema.Array(Schema.Int),
  average_rhythm_score: Schema.Finite,
  /** The sum of the prices, in US cents. */
  total_value: Schema.Finite,
  /** The emoji ids inside. Only administrators and, after opening, the owner see them. Empty for all other users. */
  yats: Schema.Array(Schema.String),
  lootbox_type: Schema.optionalKey(PublicLootBoxType),
  lootbox_type_id: Schema.optionalKey(Uuid),
  owner: Schema.optionalKey(DisplayUser),
  owner_id: Schema.optionalKey(Uuid),
  opened_at: Schema.optionalKey(DateTime),
}).annotate({ identifier: "PublicLootBox" })
export type PublicLootBox = typeof PublicLootBox.Type

export const ListOfPublicLootBox = pageOf(PublicLootBox, "ListOfPublicLootBox")

export const AdminNewLootBoxBody = Schema.Struct({
  status: LootBoxStatus,
  yats: Schema.Array(EmojiIdFromString),
  owner_email: optional(Email),
  owner_id: optional(Uuid),
}).annotate({ identifier: "AdminNewLootBoxBody" })
export type AdminNewLootBoxBody = typeof AdminNewLootBoxBody.Type

export const AdminUpdateLootBoxBody = Schema.Struct({
  status: optional(LootBoxStatus),
  yats: optional(Schema.Array(EmojiIdFromString)),
  owner_email: optional(Email),
  owner_id: optional(Uuid),
}).annotate({ identifier: "AdminUpdateLootBoxBody" })
export type AdminUpdateLootBoxBody = typeof AdminUpdateLootBoxBody.Type

export const LootBoxGenerationRequest = Schema.Struct({
  loot_box_type_id: Uuid,
  num_boxes: Schema.Int,
}).annotate({ identifier: "LootBoxGenerationRequest" })

export const LootBoxSet = Schema.Struct({
  loot_boxes: Schema.Array(PublicLootBox),
  num_requested: Schema.Int,
}).annotate({ identifier: "LootBoxSet" })
