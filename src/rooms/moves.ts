import { Layer } from "effect"
import { CustodialKeys } from "../services/custodial-keys.ts"
import { FirstKeys } from "../services/first-keys.ts"
import { InterestNotices } from "../services/interest-notices.ts"
import { LootboxGeneration } from "../services/lootbox-generation.ts"
import { LootboxViews } from "../services/lootbox-views.ts"
import { Lootboxes } from "../services/lootboxes.ts"
import { TransferLetters } from "../services/transfer-letters.ts"
import { TransferRequests } from "../services/transfer-requests.ts"
import { Transfers } from "../services/transfers.ts"
import { LootboxTypes } from "../store/lootbox-types.ts"
import { LootboxLists } from "../store/lootboxes.ts"
import { MintPermissions } from "../store/mint-permissions.ts"
import { Parties } from "../store/parties.ts"
import { TransferLists } from "../store/transfers.ts"

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
