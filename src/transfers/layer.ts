import { Layer } from "effect"
import { Parties } from "../accounts/party-store.ts"
import { CustodialKeys } from "../keys/custodial-keys.ts"
import { FirstKeys } from "../keys/default-pubkey.ts"
import { LootboxGeneration } from "../lootboxes/generation.ts"
import { LootboxLists } from "../lootboxes/lootbox-store.ts"
import { LootboxTypes } from "../lootboxes/lootbox-type-store.ts"
import { Lootboxes } from "../lootboxes/lootboxes.ts"
import { LootboxViews } from "../lootboxes/views.ts"
import { InterestNotices } from "../market/interest-notices.ts"
import { MintPermissions } from "../minting/mint-permission-store.ts"
import { Transfers } from "./acceptance.ts"
import { TransferLetters } from "./mails.ts"
import { TransferRequests } from "./requests.ts"
import { TransferLists } from "./transfer-store.ts"

const stores = Layer.mergeAll(
  LootboxLists.layer,
  LootboxTypes.layer,
  MintPermissions.layer,
  Parties.layer,
  TransferLists.layer,
)

/** How ids change hands besides being bought: transfers, lootboxes, and who hears of an id that is free again. */
export const moves = Layer.mergeAll(
  InterestNotices.layer,
  LootboxGeneration.layer,
  TransferRequests.layer,
  Transfers.layer,
).pipe(
  Layer.provideMerge(Layer.mergeAll(Lootboxes.layer, TransferLetters.layer)),
  Layer.provideMerge(Layer.mergeAll(LootboxViews.layer, FirstKeys.layer)),
  Layer.provideMerge(stores),
  Layer.provideMerge(CustodialKeys.layer),
)
