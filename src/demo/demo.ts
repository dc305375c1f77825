import { Effect } from "effect"
import { isProblem } from "../../schema/errors.ts"
import type { Config } from "../config/config.ts"
import type { Sql } from "../postgres/sql.ts"
import { findSeededParts, putSeededPart } from "./demo-part-store.ts"
import { demoIdsPart } from "./ids.ts"
import { demoPartner } from "./partner.ts"
import { demoPeople } from "./people.ts"
import type { SeedStep } from "./seed-step.ts"
import { demoGoods } from "./shop.ts"

/** In this order: later parts build on earlier ones. Each subject adds its step here. */
const parts = [demoPeople, demoIdsPart, demoGoods, demoPartner] as const

type Needs<T> = T extends SeedStep<infer R> ? R : never
type DemoServices = Needs<(typeof parts)[number]> | Sql

const reasonOf = (error: unknown): string => (isProblem(error) ? error.message : String(error))

const seedPart = Effect.fnUntraced(function* (part: SeedStep<DemoServices>) {
  yield* part.seed
  yield* putSeededPart(part.name)
})

/**
 * Seeds what this database does not have yet. A start that finds everything there costs one query. A part that fails keeps
 * nobody from starting the service; the next start tries it again.
 */
export const seedDemo: Effect.Effect<void, never, DemoServices> = Effect.gen(function* () {
  const known = yield* findSeededParts
  for (const part of parts as ReadonlyArray<SeedStep<DemoServices>>) {
    if (known.has(part.name)) continue
    yield* seedPart(part).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`demo data: ${part.name} was not seeded: ${reasonOf(error)}`),
      ),
    )
  }
}).pipe(Effect.catch((error) => Effect.logWarning(`demo data was not seeded: ${reasonOf(error)}`)))

/** What to try, for the banner. */
export const demoLines = (config: Config): ReadonlyArray<string> =>
  parts.flatMap((part) => part.lines(config))
