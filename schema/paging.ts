import { Schema } from "effect"
import { IntText, Json } from "./wire-format.ts"

export const Direction = Schema.Literals(["Asc", "Desc"])

export const Paging = Schema.Struct({
  dir: Direction,
  limit: Schema.Int,
  page: Schema.Int,
  sort: Schema.String,
  tags: Schema.Record(Schema.String, Json),
  total: Schema.Int,
}).annotate({ identifier: "Paging" })

export const pageOf = <S extends Schema.Top>(item: S, identifier: string) =>
  Schema.Struct({ data: Schema.Array(item), paging: Paging }).annotate({ identifier })

/** The query parameters of every paged list. */
export const pageQuery = {
  dir: Schema.optionalKey(Direction),
  limit: Schema.optionalKey(IntText(1, 200)),
  page: Schema.optionalKey(IntText(0, 1_000_000)),
  sort: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(64))),
}

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
  page: pageQuery.page,
})

export const pieceOf = (query: { readonly limit?: string; readonly page?: string }, most: number): Piece => {
  const limit = Number(query.limit ?? most)
  return { limit, offset: limit * Number(query.page ?? 0) }
}

/**
 * Returns a list query with defaults for missing parameters. `sorts` are the columns that a client may sort by. The
 * first of them is used if `sort` is missing or unknown.
 */
export const pageRequest = <const Sort extends string>(
  query: {
    readonly dir?: "Asc" | "Desc"
    readonly limit?: string
    readonly page?: string
    readonly sort?: string
  },
  sorts: readonly [Sort, ...ReadonlyArray<Sort>],
  defaults: { readonly limit: number; readonly dir: "Asc" | "Desc" } = { limit: 50, dir: "Desc" },
): PageRequest & { readonly sort: Sort } => ({
  dir: query.dir ?? defaults.dir,
  limit: query.limit === undefined ? defaults.limit : Number(query.limit),
  page: query.page === undefined ? 0 : Number(query.page),
  sort: sorts.find((name) => name === query.sort) ?? sorts[0],
})

export const paged = <A>(data: ReadonlyArray<A>, request: PageRequest, total: number) => ({
  data,
  paging: { ...request, tags: {}, total },
})
