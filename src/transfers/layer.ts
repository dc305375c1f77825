import { Layer } from "effect"
import { TransferAcceptance } from "./acceptance.ts"
import { TransferMails } from "./mails.ts"
import { TransferRequests } from "./requests.ts"
import { TransferLists } from "./transfer-store.ts"

/** Transfers of ids between users. */
export const transfers = Layer.mergeAll(TransferRequests.layer, TransferAcceptance.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(TransferMails.layer, TransferLists.layer)),
)
