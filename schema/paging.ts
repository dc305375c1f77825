import { Schema } from "effect"
import { IntText, Json } from "./wire-format.ts"

const directions = ["Asc", "Desc"] as const

export const Paging = Schema.Struct({
  dir: Schema.Literals(directions),
  limit: Schema.Int,
  page: Schema.Int,
  sort: Schema.String,
  tags: Schema.Record(Schema.String, Json),
  total: Schema.Int,
}).annotate({ identifier: "Paging" })

export const pageOf = <S extends Schema.Top>(item: S, identifier: string) =>
  Schema.Struct({ data: Schema.Array(item), paging: Paging }).annotate({ identifier })

/**
 * A query parameter that accepts these values. An empty value means that the parameter is missing: some clients send
 * each parameter that they know.
 */
const choice = (values: ReadonlyArray<string>) =>
  Schema.optionalKey(
    Schema.Literals(["", ...values]).annotate({ message: `expected one of ${values.join(", ")}` }),
  )

export const pageNumber = Schema.optionalKey(IntText(0, 1_000_000))

/**
 * The query parameters of a paged list. `sorts` are the values of `sort`. Another value is refused, because a list in
 * another order than the client expects is worse than an error.
 */
export const pageQuery = (sorts: ReadonlyArray<string>) => ({
  dir: choice(directions),
  limit: Schema.optionalKey(IntText(1, 200)),
  page: pageNumber,
  sort: choice(sorts),
})

export interface PageRequest {
  readonly dir: "Asc" | "Desc"
  readonly limit: number
  readonly page: number
  readonly sort: string
}

/** Selects a part of a list that is returned as an array without paging information. */
export interface Piece {
  readonly limit: number
  readonly offset: number
}

/**
 * The query parameters of a list that is returned as an array without paging information. `most` is the maximum number
 * of items.
 */
export const pieceQuery = (most: number) => ({
  limit: Schema.optionalKey(IntText(1, most)),
  page: pageNumber,
})

export const pieceOf = (query: { readonly limit?: string; readonly page?: string }, most: number): Piece => {
  const limit = Number(query.limit ?? most)
  return { limit, offset: limit * Number(query.page ?? 0) }
}

/**
 * Returns a list query with defaults for missing parameters. `sorts` are the columns that a client may sort by. The
 * first of them is used if `sort` is missing.
 */
export const pageRequest = <const Sort extends string>(
  query: {
    readonly dir?: string
    readonly limit?: string
    readonly page?: string
    readonly sort?: string
  },
  sorts: readonly [Sort, ...ReadonlyArray<Sort>],
  defaults: { readonly limit: number; readonly dir: "Asc" | "Desc" } = { limit: 50, dir: "Desc" },
): PageRequest & { readonly sort: Sort } => ({
  dir: directions.find((dir) => dir === query.dir) ?? defaults.dir,
  limit: query.limit === undefined ? defaults.limit : Number(query.limit),
  page: query.page === undefined ? 0 : Number(query.page),
  sort: sorts.find((name) => name === query.sort) ?? sorts[0],
})

export const paged = <A>(data: ReadonlyArray<A>, request: PageRequest, total: number) => ({
  data,
  paging: { ...request, tags: {}, total },
})
