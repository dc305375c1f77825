import { Layer } from "effect"
import { Transfers } from "./acceptance.ts"
import { TransferLetters } from "./mails.ts"
import { TransferRequests } from "./requests.ts"
import { TransferLists } from "./transfer-store.ts"

/** Transfers of ids between users. */
export const transfers = Layer.mergeAll(TransferRequests.layer, Transfers.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(TransferLetters.layer, TransferLists.layer)),
)
