import { Layer } from "effect"
import { Storefront } from "../market/storefront.ts"
import { mintSignatures } from "../minting/layer.ts"
import { MintPermissions } from "../minting/mint-permission-store.ts"
import { Minting } from "../minting/minting.ts"
import { IdChanges } from "./id-changes.ts"
import { IdLists } from "./id-lists.ts"
import { Registry } from "./id-registry.ts"
import { EmojiIds } from "./id-store.ts"
import { JsonStore } from "./json-store.ts"
import { Lookups } from "./lookup/lookups.ts"
import { Views } from "./lookup/view-counter.ts"
import { Records } from "./records.ts"

/** The ids themselves: what they say, to whom they belong, what is on offer. */
export const directory = Layer.mergeAll(
  JsonStore.layer,
  Lookups.layer,
  Minting.layer,
  IdLists.layer,
  Records.layer,
  Registry.layer,
  Storefront.layer,
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(EmojiIds.layer, IdChanges.layer, MintPermissions.layer, mintSignatures, Views.layer),
  ),
)
