import { Arbitrary, Effect, Exit, Schema } from "effect"
import type { Route } from "../../../src/http/route.ts"
import type { Luck } from "../../fixtures/walk.ts"

type Part = "body" | "query" | "params"

const samplesPerPart = 24
/** The size of texts and lists in a sample. The library grows them up to this size. */
const sampleSize = 12

const schemaOf = (row: Route, part: Part): Schema.Top | undefined => {
  if (part === "body") return row.body
  const fields = part === "query" ? (row.query ?? row.search) : row.params
  return fields === undefined ? undefined : Schema.Struct(fields)
}

const drawn = (schema: Schema.Top, seed: number): ReadonlyArray<unknown> => {
  const arbitrary = Arbitrary.schema(Schema.toEncoded(schema))
  const options = { count: samplesPerPart, size: sampleSize, seed }
  const exit = Effect.runSyncExit(Arbitrary.sampleEffect(arbitrary, options))
  // Some formats, such as UUID, cannot be found by chance. Values of these come from the journeys and the pool.
  return Exit.isSuccess(exit) ? exit.value : []
}

/** Values that the schemas of the routes themselves describe. They are made once per route, when first needed. */
export class Samples {
  readonly #made = new Map<string, ReadonlyArray<unknown>>()
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Returns a value that the schema of the route accepts; undefined if the route has no such part, or none is found. */
  pick(row: Route, part: Part, luck: Luck): unknown {
    const key = `${row.id} ${part}`
    let made = this.#made.get(key)
    if (made === undefined) {
      const schema = schemaOf(row, part)
      made = schema === undefined ? [] : drawn(schema, this.#seed)
      this.#made.set(key, made)
    }
    return luck.pick(made)
  }
}
