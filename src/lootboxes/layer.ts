import { Layer } from "effect"
import { LootboxGeneration } from "./generation.ts"
import { LootboxLists } from "./lootbox-store.ts"
import { LootboxTypes } from "./lootbox-type-store.ts"
import { LootboxViews } from "./lootbox-view.ts"
import { Lootboxes } from "./lootboxes.ts"

export const lootboxes = LootboxGeneration.layer.pipe(
  Layer.provideMerge(Lootboxes.layer),
  Layer.provideMerge(LootboxViews.layer),
  Layer.provideMerge(Layer.mergeAll(LootboxLists.layer, LootboxTypes.layer)),
)
