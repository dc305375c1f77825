import type { Route } from "../http/route.ts"
import { documents } from "./documents.ts"
import { lootboxTypes } from "./lootbox-types.ts"
import { lootboxes } from "./lootboxes.ts"
import { operations } from "./operations.ts"
import { transfers } from "./transfers.ts"

// Documents describe the whole table they are part of, so they look at it only when asked.
function wholeTable(): ReadonlyArray<Route> {
  return routes
}

const table = [...operations, ...transfers, ...lootboxTypes, ...lootboxes, ...documents(wholeTable)] as const

type Needs<T> = T extends Route<infer R> ? R : never
export type RouteServices = Needs<(typeof table)[number]>

/** The whole API: router, authentication, decoding, documents and tests are folds over this list. */
export const routes: ReadonlyArray<Route<RouteServices>> = table
