import { Layer } from "effect"
import { TransferAcceptance } from "./accept-transfer.ts"
import { CodeAttempts } from "./code-attempt-store.ts"
import { TransferMails } from "./code-mails.ts"
import { TransferRequests } from "./request-transfer.ts"
import { TransferLists } from "./transfer-store.ts"

/** Provides the services for transfers of ids between users. */
export const transfers = Layer.mergeAll(TransferRequests.layer, TransferAcceptance.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(CodeAttempts.layer, TransferMails.layer, TransferLists.layer)),
)
