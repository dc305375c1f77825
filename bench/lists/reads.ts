import { roleScopes } from "../../schema/accounts/scope.ts"
import { openApi } from "../../src/http/openapi.ts"
import type { Route } from "../../src/http/route.ts"
import { leftOut, otherStatuses, pathSamples, querySamples, requiredQueries, type Sample } from "./samples.ts"

export const callers = ["anonymous", "user", "admin"] as const
export type ReadCaller = (typeof callers)[number]

/** One way to call a GET route. */
export interface Read {
  readonly id: string
  /** For example `GET /orders?all=true&sort=updated_at as an admin`. */
  readonly name: string
  readonly caller: ReadCaller
  /** Returns the path and the query of the request about row n. User n may send it. */
  readonly path: (n: number) => string
  /** The name of a query parameter that must be added: it continues a list at the end of the first response. */
  readonly cursor?: string
}

interface QueryParameter {
  readonly name: string
  readonly required?: boolean
  readonly schema: { readonly enum?: readonly string[] }
}

type Query = Readonly<Record<string, Sample>>

/** Whether the response is the one that the read expects. Some resources of others are refused to users. */
export const isExpected = ({ caller, id }: Read, status: number): boolean =>
  status === (otherStatuses[`${id} ${caller}`] ?? otherStatuses[id] ?? 200) || isRefused({ caller }, status)

export const isRefused = ({ caller }: Pick<Read, "caller">, status: number): boolean =>
  caller === "user" && status === 403

const cursors = new Set(["after", "before"])
const asCaller: Readonly<Record<ReadCaller, string>> = {
  anonymous: "",
  user: " as a user",
  admin: " as an admin",
}

const missing = (what: string, { id, path }: Route): Error =>
  new Error(`GET ${path} (${id}) has the new ${what}. Add a value for it to bench/lists/samples.ts.`)

const pathOf = (row: Route): Sample => {
  const samples = row.path.split(/:(\w+)/).map((part, at): Sample => {
    if (at % 2 === 0) return () => part
    const before = row.path.slice(0, row.path.indexOf(`:${part}`))
    const sample = pathSamples[`${before}:${part}`] ?? pathSamples[part]
    if (sample === undefined) throw missing(`path parameter ${part}`, row)
    return (n) => encodeURIComponent(sample(n))
  })
  return (n) => samples.map((sample) => sample(n)).join("")
}

const queryText = (query: Query, n: number): string =>
  Object.entries(query)
    .map(([name, sample]) => `${name}=${encodeURIComponent(sample(n))}`)
    .join("&")

const valuesOf = (row: Route, { name, schema }: QueryParameter): readonly Sample[] => {
  const samples = querySamples[name]
  const values =
    samples?.length === 0
      ? samples
      : (schema.enum?.map(
          (value): Sample =>
            () =>
              value,
        ) ?? samples)
  if (values === undefined) throw missing(`query parameter ${name}`, row)
  return values
}

/** Lists the queries of a route: one with what is required, and one more for each value of each other parameter. */
const queriesOf = (
  row: Route,
  parameters: readonly QueryParameter[],
  common: Query,
): ReadonlyArray<{ readonly query: Query; readonly cursor?: string }> => {
  const required = { ...requiredQueries[row.id], ...common }
  const others = parameters.filter(({ name }) => !(name in required))
  return [
    { query: required },
    ...others.flatMap((parameter) =>
      cursors.has(parameter.name)
        ? [{ query: required, cursor: parameter.name }]
        : valuesOf(row, parameter).map((value) => ({ query: { ...required, [parameter.name]: value } })),
    ),
  ]
}

const readsOfRow = (row: Route, parameters: readonly QueryParameter[]): readonly Read[] => {
  const path = pathOf(row)
  const as = (caller: ReadCaller, common: Query = {}) =>
    queriesOf(row, parameters, common).map(({ cursor, query }): Read => {
      const shown = [queryText(query, 0), ...(cursor === undefined ? [] : [`${cursor}=…`])].filter(
        (text) => text !== "",
      )
      const name = `GET ${row.path}${shown.length === 0 ? "" : `?${decodeURIComponent(shown.join("&"))}`}${asCaller[caller]}`
      const at = (n: number) => [path(n), queryText(query, n)].filter((text) => text !== "").join("?")
      return { id: row.id, name, caller, path: at, ...(cursor === undefined ? {} : { cursor }) }
    })
  if (row.auth === "none") return as("anonymous")
  const isForUsers = row.scope === undefined || roleScopes.User.has(row.scope)
  const ofAll = parameters.some(({ name }) => name === "all") ? as("admin", { all: () => "true" }) : []
  // The first of them has no other parameter, and the reads of an administrator contain it already.
  return [...(isForUsers ? as("user") : []), ...as("admin"), ...ofAll.slice(1)]
}

/**
 * Derives the requests from the route table: every GET route, as a user and as an admin. Users get no request
 * that their role never allows.
 */
export const readsOf = (routes: readonly Route[]): readonly Read[] => {
  // OpenAPI leaves internal rows out.
  const published = routes.map(({ internal: _, ...row }) => row)
  const { paths } = openApi(published, [])
  return routes
    .filter(({ id, method }) => method === "get" && leftOut[id] === undefined)
    .flatMap((row) => {
      const operation = paths[row.path.replaceAll(/:(\w+)/g, "{$1}")]?.["get"] as
        | { readonly parameters?: ReadonlyArray<QueryParameter & { readonly in: string }> }
        | undefined
      return readsOfRow(row, operation?.parameters?.filter((one) => one.in === "query") ?? [])
    })
}

/** Returns the value of a cursor parameter from the response that it continues. */
export const cursorIn = (body: unknown, name: string): string | undefined => {
  const { paging, ...members } = body as Readonly<Record<string, unknown>>
  const found =
    (paging as Readonly<Record<string, unknown>> | undefined)?.["next"] ?? members["next"] ?? members[name]
  return typeof found === "string" ? found : undefined
}

export const withCursor = (path: string, name: string, value: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`
