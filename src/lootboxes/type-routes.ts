import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { NotFound, Unprocessable } from "../../schema/errors.ts"
import {
  AdminNewLootBoxType,
  LootBoxGenerationRequest,
  LootBoxSet,
  PublicLootBoxType,
} from "../../schema/lootboxes/lootbox.ts"
import { arrayQuery, pageRequest } from "../../schema/paging.ts"
import { linked } from "../http/response/page-links.ts"
import { route } from "../http/route.ts"
import { LootboxGeneration } from "./generation.ts"
import { LootboxTypes, typeList } from "./lootbox-type-store.ts"

const shared = { group: "lootbox types", auth: "JWT" } as const

const create = route({
  ...shared,
  id: "createType",
  summary: "Create a lootbox type",
  description:
    "A type says how its lootboxes are filled: number and lengths of the ids, bounds of the rhythm score, guarantees and weights. Settings that contradict each other are 422.",
  method: "post",
  path: "/lootbox_type",
  scope: "adminLootbox:write",
  body: AdminNewLootBoxType,
  success: PublicLootBoxType,
  errors: [Unprocessable],
  handler: ({ body }) =>
    LootboxGeneration.use((generation) =>
      Effect.map(atMostOnce(generation.createType(body)), ({ rows }) => rows[0]!),
    ),
})

const list = route({
  ...shared,
  id: "getTypes",
  summary: "List lootbox types",
  description: "At most 500 are on a page; further pages are linked in the header `Link`.",
  method: "get",
  path: "/lootbox_type",
  scope: "adminLootbox:read",
  query: arrayQuery(typeList),
  success: Schema.Array(PublicLootBoxType),
  errors: [],
  handler: ({ path, query, search }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(typeList, query)
      const found = yield* LootboxTypes.use((types) => types.list(page))
      return linked(typeList, page, found, found.rows, { path, search })
    }),
})

const generate = route({
  ...shared,
  id: "generateLootBoxes",
  summary: "Generate lootboxes of a type",
  description:
    "Creates drafts that are filled with free emoji ids, which are reserved for them. If there are not enough ids, fewer boxes are made; compare `num_requested`.",
  method: "post",
  path: "/lootbox_type/generate",
  scope: "adminLootbox:write",
  body: LootBoxGenerationRequest,
  success: LootBoxSet,
  errors: [NotFound, Unprocessable],
  handler: ({ body: { loot_box_type_id, num_boxes }, principal }) =>
    LootboxGeneration.use((generation) =>
      Effect.map(generation.generate(principal, loot_box_type_id.toLowerCase(), num_boxes), (loot_boxes) => ({
        loot_boxes,
        num_requested: num_boxes,
      })),
    ),
})

export const lootboxTypes = [create, list, generate] as const
