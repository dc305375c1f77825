import { Layer } from "effect"
import { Histories } from "./history.ts"
import { IdNotices } from "./id-notices.ts"

/** The history of emoji ids, and the notices to their owners. */
export const history = Layer.mergeAll(Histories.layer, IdNotices.layer)
