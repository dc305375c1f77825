import type { Route } from "../http/route.ts"
import { assets } from "./assets.ts"
import { documents } from "./documents.ts"
import { live } from "./live.ts"
import { operations } from "./operations.ts"
import { prices } from "./prices.ts"
import { transfers } from "./transfers.ts"

// Documents describe the whole table they are part of, so they look at it only when asked.
function wholeTable(): ReadonlyArray<Route> {
  return routes
}

// biome-ignore format: one group a line
const table = [
  ...operations,
  ...documents(wholeTable),
  ...live,
  ...assets,
  ...prices,
  ...transfers,
] as const

type Needs<T> = T extends Route<infer R> ? R : never
export type RouteServices = Needs<(typeof table)[number]>

/** The whole API: router, authentication, decoding, documents and tests are folds over this list. */
export const routes: ReadonlyArray<Route<RouteServices>> = table
