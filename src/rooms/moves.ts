import { Layer } from "effect"
import { CustodialKeys } from "../services/custodial-keys.ts"
import { FirstKeys } from "../services/first-keys.ts"
import { LootboxGeneration } from "../services/lootbox-generation.ts"
import { LootboxViews } from "../services/lootbox-views.ts"
import { Lootboxes } from "../services/lootboxes.ts"
import { TransferLetters } from "../services/transfer-letters.ts"
import { TransferRequests } from "../services/transfer-requests.ts"
import { Transfers } from "../services/transfers.ts"
import { LootboxTypes } from "../store/lootbox-types.ts"
import { LootboxLists } from "../store/lootboxes.ts"
import { Parties } from "../store/parties.ts"
import { TransferLists } from "../store/transfers.ts"

/** How ids change hands besides being bought: transfers and lootboxes. */
export const moves = Layer.mergeAll(TransferRequests.layer, Transfers.layer, LootboxGeneration.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(TransferLetters.layer, Lootboxes.layer)),
  Layer.provideMerge(LootboxViews.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      FirstKeys.layer,
      LootboxLists.layer,
      LootboxTypes.layer,
      Parties.layer,
      TransferLists.layer,
    ),
  ),
  Layer.provideMerge(CustodialKeys.layer),
)
