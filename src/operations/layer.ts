import { Layer } from "effect"
import { RecentEventLists } from "../turns/recent-events.ts"
import { housekeeping } from "./housekeeping.ts"

/** The services of this folder: the list of recent events, and the deletion of expired rows. */
export const operations = Layer.mergeAll(housekeeping, RecentEventLists.layer)
