import { Effect } from "effect"
import { isProblem } from "../../schema/errors.ts"
import type { Config } from "../config/read-config.ts"
import type { Sql } from "../postgres/sql.ts"
import { findSeededParts, putSeededPart } from "./demo-part-store.ts"
import { demoIdsPart } from "./ids.ts"
import { demoPartner } from "./partner.ts"
import { demoPeople } from "./people.ts"
import type { SeedStep } from "./seed-step.ts"
import { demoShop } from "./shop.ts"

/** The parts of the demo data, in the order in which they are seeded. Later parts need rows of earlier parts. */
const parts = [demoPeople, demoIdsPart, demoShop, demoPartner] as const

type Needs<T> = T extends SeedStep<infer R> ? R : never
type DemoServices = Needs<(typeof parts)[number]> | Sql

const reasonOf = (error: unknown): string => (isProblem(error) ? error.message : String(error))

const seedPart = Effect.fnUntraced(function* (part: SeedStep<DemoServices>) {
  yield* part.seed
  yield* putSeededPart(part.name)
})

/**
 * Seeds the parts of the demo data that this database does not have yet. If it has all parts, only one query is made.
 * If a part fails, a warning is logged and the service still starts. The next start tries the failed part again.
 */
export const seedDemo: Effect.Effect<void, never, DemoServices> = Effect.gen(function* () {
  const known = yield* findSeededParts
  for (const part of parts as ReadonlyArray<SeedStep<DemoServices>>) {
    if (known.has(part.name)) continue
    yield* seedPart(part).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`seeding demo data failed for ${part.name}: ${reasonOf(error)}`),
      ),
    )
  }
}).pipe(Effect.catch((error) => Effect.logWarning(`seeding demo data failed: ${reasonOf(error)}`)))

/** The lines of the startup banner that describe the demo data. */
export const demoLines = (config: Config): ReadonlyArray<string> =>
  parts.flatMap((part) => part.lines(config))
