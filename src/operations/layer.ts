import { Layer } from "effect"
import { RecentEventLists } from "../turns/recent-events.ts"
import { housekeeping } from "./housekeeping.ts"

/** The list of recent events for admins, and the regular deletion of expired rows. */
export const operations = Layer.mergeAll(housekeeping, RecentEventLists.layer)
