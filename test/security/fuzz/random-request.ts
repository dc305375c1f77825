import { parameterNames } from "../../../src/http/request/path.ts"
import type { Luck } from "../../fixtures/walk.ts"
import { type Draft, methodOf } from "./draft.ts"
import type { Lane } from "./lane.ts"
import { bodyMutations } from "./mutate-body.ts"
import { headMutations } from "./mutate-head.ts"
import { operations } from "./operations.ts"

const all = [...operations.values()]
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const asText = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value))

/** Replaces some members by values that exist in the service. */
const withKnown = (lane: Lane, path: string, value: unknown, depth = 0): unknown => {
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => withKnown(lane, path, item, depth))
  if (!isObject(value) || depth > 2) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const known =
        lane.luck.chance(0.5) && typeof member !== "object" ? lane.pool.find(path, name) : undefined
      return [name, known ?? withKnown(lane, path, member, depth + 1)]
    }),
  )
}

/** A request that the schemas of the route describe, with values that exist in the service where they are known. */
const sampled = (lane: Lane, { row }: (typeof all)[number]): Draft => {
  const { luck, pool, samples } = lane
  const params = Object(samples.pick(row, "params", luck)) as Record<string, unknown>
  const query = Object(samples.pick(row, "query", luck)) as Record<string, unknown>
  const body = withKnown(lane, row.path, samples.pick(row, "body", luck))
  const known = (name: string, otherwise: unknown) =>
    asText((luck.chance(0.75) ? pool.find(row.path, name) : undefined) ?? otherwise ?? "x")
  const isForm = row.rawBody === true
  return {
    row,
    caller: lane.anyCaller(),
    method: methodOf(row),
    params: Object.fromEntries(parameterNames(row.path).map((name) => [name, known(name, params[name])])),
    query: Object.entries(query).map(([name, value]) => [
      name,
      luck.chance(0.3) ? known(name, value) : asText(value),
    ]),
    headers: {},
    ...(body === undefined || isForm ? {} : { json: body }),
    ...(isForm
      ? {
          form: Object.fromEntries(
            Object.entries(Object(body)).map(([name, value]) => [name, asText(value)]),
          ),
        }
      : {}),
  }
}

/** Changes a request in one to three places. */
export const mutated = (draft: Draft, luck: Luck): Draft => {
  const hasBody = draft.json !== undefined || draft.form !== undefined
  const times = luck.pick([1, 1, 1, 2, 3])!
  let made = draft
  for (let n = 0; n < times; n++) {
    const mutation = luck.pick(luck.chance(hasBody ? 0.65 : 0.08) ? bodyMutations : headMutations)!
    made = mutation(made, luck)
  }
  return made
}

/** The next random request: valid by its schemas, or one that succeeded before, unchanged or mutated. */
export const randomRequest = (lane: Lane): Draft => {
  const { luck } = lane
  const operation = luck.pick(all)!
  const before = luck.chance(0.6) ? lane.succeeded(operation.row.id) : undefined
  const base = before ?? sampled(lane, operation)
  const sent = before !== undefined && luck.chance(0.4) ? { ...before, caller: lane.anyCaller() } : base
  return luck.chance(0.35) ? sent : mutated(sent, luck)
}
