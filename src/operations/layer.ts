import { Layer } from "effect"
import { RecentEventLists } from "../turns/recent-events.ts"
import { housekeeping } from "./housekeeping.ts"

/** What operators see and what keeps the tables small. */
export const operations = Layer.mergeAll(housekeeping, RecentEventLists.layer)
