import { Schema } from "effect"
import type { Operation } from "../../../src/docs-page/document.ts"
import { openApi } from "../../../src/http/openapi.ts"
import type { Route } from "../../../src/http/route.ts"
import { routes } from "../../../src/routes.ts"

/** A row of the route table, and what the oracle needs of it, computed once. */
export interface FuzzedOperation {
  readonly row: Route
  /** The statuses that the OpenAPI document declares for the row. */
  readonly declared: ReadonlySet<number>
  /** Whether a JSON value has the declared form of a successful response. */
  readonly isAnswer: (value: unknown) => boolean
}

// OpenAPI leaves internal rows out, but the fuzzer calls them too.
const { paths } = openApi(
  routes.map((row) => {
    const { internal: _, ...published } = row
    return published
  }),
  [],
)

const declaredOf = ({ method, path }: Route): ReadonlySet<number> => {
  const documented = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method === "del" ? "delete" : method]
  return new Set(Object.keys((documented as Operation).responses).map(Number))
}

export const operations: ReadonlyMap<string, FuzzedOperation> = new Map(
  routes.map((row) => [
    row.id,
    { row, declared: declaredOf(row), isAnswer: Schema.is(Schema.toEncoded(row.success)) },
  ]),
)

/** Whether the status means that the operation was carried out. */
export const isSuccess = (status: number): boolean => status === 101 || (status >= 200 && status < 400)
