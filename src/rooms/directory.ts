import { Layer } from "effect"
import { IdChanges } from "../services/id-changes.ts"
import { IdLists } from "../services/id-lists.ts"
import { JsonStore } from "../services/json-store.ts"
import { Lookups } from "../services/lookups.ts"
import { Minting } from "../services/minting.ts"
import { Records } from "../services/records.ts"
import { Registry } from "../services/registry.ts"
import { Storefront } from "../services/storefront.ts"
import { Views } from "../services/views.ts"
import { EmojiIds } from "../store/emoji-ids.ts"
import { MintPermissions } from "../store/mint-permissions.ts"
import { mintSignatures } from "./minting.ts"

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
