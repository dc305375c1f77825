import { Effect, Schema } from "effect"
import { type CursorContext, decodeCursor, encodeCursor, type KeyType, type Position } from "./cursor.ts"
import { type InvalidRequest, invalidValue } from "./errors.ts"
import { IntText, Json } from "./wire-format.ts"

const directions = ["Asc", "Desc"] as const
type Direction = (typeof directions)[number]

export const Paging = Schema.Struct({
  dir: Schema.Literals(directions),
  limit: Schema.Int,
  /** The number of the page, from 0. With `after` or `before` it is 0. */
  page: Schema.Int,
  sort: Schema.String,
  tags: Schema.Record(Schema.String, Json),
  /** The number of items in the list: exact up to 10,000. */
  total: Schema.Int,
  /** True if `total` is an estimate, because there are more than 10,000 items. */
  total_is_estimate: Schema.optionalKey(Schema.Literal(true)),
  /** The value of `after` for the next page. Missing on the last page. */
  next: Schema.optionalKey(Schema.String),
  /** The value of `before` for the previous page. Missing on the first page. */
  previous: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "Paging" })

export const pageOf = <S extends Schema.Top>(item: S, identifier: string) =>
  Schema.Struct({ data: Schema.Array(item), paging: Paging }).annotate({ identifier })

/** The form of a list: in which orders a client can read it, and how much of it at once. */
export interface ListForm<Sort extends string = string> {
  /** The name of the list in its cursors. Two lists have the same name only if they have the same sort columns. */
  readonly name: string
  /**
   * The sort orders, each with the types of the columns by which the database sorts. The last columns identify a row.
   * The first sort order is the default.
   */
  readonly sorts: Readonly<Record<Sort, ReadonlyArray<KeyType>>>
  readonly dir: Direction
  /** The default of `limit`. */
  readonly limit: number
  /** The maximum of `limit`. */
  readonly most: number
}

/** The form of a list that is returned with paging information. */
export const pagedList = <const Sort extends string>(
  name: string,
  sorts: Readonly<Record<Sort, ReadonlyArray<KeyType>>>,
): ListForm<Sort> => ({ name, sorts, dir: "Desc", limit: 50, most: 200 })

/** The form of a list that is returned as an array. It has one sort order. */
export const arrayList = (
  name: string,
  dir: Direction,
  types: ReadonlyArray<KeyType>,
  most: number,
): ListForm<"only"> => ({ name, sorts: { only: types }, dir, limit: most, most })

const sortsOf = <Sort extends string>({ sorts }: Pick<ListForm<Sort>, "sorts">) =>
  Object.keys(sorts) as ReadonlyArray<string> as readonly [Sort, ...ReadonlyArray<Sort>]

/**
 * A query parameter that accepts these values. An empty value means that the parameter is missing: some clients send
 * each parameter that they know.
 */
const choice = (values: ReadonlyArray<string>) =>
  Schema.optionalKey(
    Schema.Literals(["", ...values]).annotate({ message: `expected one of ${values.join(", ")}` }),
  )

/** A cursor is checked when the sort order is known. */
const cursor = Schema.optionalKey(Schema.String)
export const pageNumber = Schema.optionalKey(IntText(0, 1_000_000))

/** The query parameters of a list that is returned as an array. */
export const arrayQuery = ({ most }: Pick<ListForm, "most">) => ({
  limit: Schema.optionalKey(IntText(1, most)),
  page: pageNumber,
  after: cursor,
  before: cursor,
})

/**
 * The query parameters of a list with paging information. An unknown value of `sort` is refused, because a list in
 * another order than the client expects is worse than an error.
 */
export const pageQuery = (list: ListForm) => ({
  dir: choice(directions),
  ...arrayQuery(list),
  sort: choice(sortsOf(list)),
})

/** Selects a part of a list: a page by its number, or the rows after or before a position. */
export interface PageRequest<Sort extends string = string> {
  readonly dir: Direction
  readonly limit: number
  readonly page: number
  readonly sort: Sort
  readonly after?: Position
  readonly before?: Position
}

/** The number of items in a list. Beyond `maxCounted` it is an estimate. */
export interface Total {
  readonly count: number
  readonly isEstimate: boolean
}
export const maxCounted = 10_000

/** A part of a list. The positions are missing if there is no such page. */
export interface Page<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next?: Position
  readonly previous?: Position
}
export interface CountedPage<Row> extends Page<Row> {
  readonly total: Total
}

/** A page by its number costs the more the further back it is. So pages end at this row. */
export const lastNumberedRow = 100_000

interface PageParameters {
  readonly dir?: string
  readonly limit?: string
  readonly page?: string
  readonly sort?: string
  readonly after?: string
  readonly before?: string
}

const refuse = (name: string, message: string) => invalidValue("query", name, message)

const contextOf = (list: ListForm, { dir, sort }: Pick<PageRequest, "dir" | "sort">): CursorContext => ({
  list: list.name,
  sort,
  dir,
  types: list.sorts[sort] ?? [],
})

/** Returns the request for a part of the list, with defaults for missing parameters. */
export const pageRequest = <const Sort extends string>(
  list: ListForm<Sort>,
  query: PageParameters,
  defaultSort: Sort = sortsOf(list)[0],
): Effect.Effect<PageRequest<Sort>, InvalidRequest> =>
  Effect.gen(function* () {
    const request = {
      dir: directions.find((dir) => dir === query.dir) ?? list.dir,
      limit: query.limit === undefined ? list.limit : Number(query.limit),
      page: query.page === undefined ? 0 : Number(query.page),
      sort: sortsOf(list).find((name) => name === query.sort) ?? defaultSort,
    }
    const [name, text] = query.after ? (["after", query.after] as const) : (["before", query.before] as const)
    if (!text) {
      if ((request.page + 1) * request.limit > lastNumberedRow && request.page > 0)
        return yield* refuse(
          "page",
          `pages end at row ${lastNumberedRow}. To read further, send \`after\` with the cursor of the page before.`,
        )
      return request
    }
    if (query.after && query.before)
      return yield* refuse("before", "cannot be combined with `after`. Send one of them.")
    if (query.page !== undefined)
      return yield* refuse("page", `cannot be combined with \`${name}\`. Send one of them.`)
    const position = decodeCursor(contextOf(list, request), text)
    if (typeof position === "string") return yield* refuse(name, position)
    return { ...request, [name]: position }
  })

/** Returns the cursors of a page. */
export const cursorsOf = (list: ListForm, request: PageRequest, { next, previous }: Page<unknown>) => {
  const context = contextOf(list, request)
  return {
    ...(next === undefined ? {} : { next: encodeCursor(context, next) }),
    ...(previous === undefined ? {} : { previous: encodeCursor(context, previous) }),
  }
}

/** Returns the response body of a paged list. */
export const paged = <A>(
  list: ListForm,
  request: PageRequest,
  page: CountedPage<unknown>,
  data: ReadonlyArray<A>,
) => ({
  data,
  paging: {
    dir: request.dir,
    limit: request.limit,
    page: request.page,
    sort: request.sort,
    tags: {},
    total: page.total.count,
    ...(page.total.isEstimate ? { total_is_estimate: true as const } : {}),
    ...cursorsOf(list, request, page),
  },
})
