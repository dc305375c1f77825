import { Effect } from "effect"
import { BoundedMap } from "../../actors/bounded-map.ts"
import type { Key, Position } from "../../schema/cursor.ts"
import { InvalidRequest, type Unavailable } from "../../schema/errors.ts"
import { type CountedPage, maxCounted, type Page, type PageRequest, type Total } from "../../schema/paging.ts"
import { allItems, otherSideExists, pageStatement, type Selection } from "./page-statement.ts"
import { type Client, Sql, type SqlPiece } from "./sql.ts"

export type { Selection } from "./page-statement.ts"

type Select = (q: Client) => Selection

/** Items that match a filter which no index has in the order of the list. They are found by the filter and sorted. */
export interface Found extends Omit<Selection, "ranges"> {
  /** The query for the sort columns and the columns of `item`, with the condition of the filter. */
  readonly matching: SqlPiece
}

/** How long an estimate is used before the list is counted again. */
const estimateMs = 60_000
const maxEstimates = 1000

interface Keyed {
  readonly page_key: Key
}

const withoutKey = <Row>({ page_key: _, ...row }: Keyed & Row): Row => row as unknown as Row

/** Returns the page without the additional item, and the positions of the pages around it. */
const toPage = <Row>(
  { after, before, limit, page }: PageRequest,
  read: ReadonlyArray<Keyed & Row>,
  hasOtherSide: boolean,
): Page<Row> => {
  const hasMore = read.length > limit
  const inOrder = read.slice(0, limit)
  if (before !== undefined) inOrder.reverse()
  const [first, last] = [inOrder[0], inOrder.at(-1)]
  const outside = (row: Keyed): Position => ({ key: row.page_key, isInclusive: false })
  /** A page can be empty because its items were deleted. The page on the other side then begins at the cursor. */
  const otherSide = ({ isInclusive, key }: Position): Position => ({ key, isInclusive: !isInclusive })
  const hasNext = before === undefined ? hasMore : hasOtherSide
  const hasPrevious = before === undefined ? (after === undefined ? page > 0 : hasOtherSide) : hasMore
  const next = last === undefined ? before && otherSide(before) : outside(last)
  const previous = first === undefined ? after && otherSide(after) : outside(first)
  return {
    rows: inOrder.map(withoutKey),
    ...(hasNext && next !== undefined ? { next } : {}),
    ...(hasPrevious && previous !== undefined ? { previous } : {}),
  }
}

interface Plan {
  readonly Plan: { readonly "Plan Rows": number }
}

/** Makes the functions that read the pages of lists. */
export const makePages = Sql.useSync((sql) => {
  const estimates = new BoundedMap<{ readonly total: Total; readonly until: number }>(maxEstimates)

  const read = Effect.fnUntraced(function* <Row>(request: PageRequest, select: Select) {
    const hasCursor = request.after !== undefined || request.before !== undefined
    const [rows, [around]] = yield* Effect.all(
      [
        sql.rows<Keyed & Row>((q) => q`${pageStatement(q, request, select(q))}`),
        hasCursor
          ? sql.rows<{ exists: boolean }>(
              (q) => q`select ${otherSideExists(q, request, select(q))} as exists`,
            )
          : Effect.succeed([{ exists: false }]),
      ],
      { concurrency: "unbounded" },
    )
    return toPage<Row>(request, rows, around?.exists ?? false)
  })

  const count = (select: (q: Client) => Pick<Selection, "ranges">) =>
    Effect.map(
      sql.rows<{ count: number }>(
        (q) =>
          q`select count(*)::int as count from (${allItems(q, select(q))} limit ${maxCounted + 1}) counted`,
      ),
      ([row]) => row?.count ?? 0,
    )

  const estimate = Effect.fnUntraced(function* (filter: string, select: Select) {
    const known = estimates.get(filter)
    if (known !== undefined && known.until > performance.now()) return known.total
    const counted = yield* count(select)
    if (counted <= maxCounted) return { count: counted, isEstimate: false }
    const [row] = yield* sql.rows<{ "QUERY PLAN": ReadonlyArray<Plan> }>(
      (q) => q`explain (format json) ${allItems(q, select(q))}`,
    )
    const planned = row?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0
    const total = { count: Math.max(Math.round(planned), counted), isEstimate: true }
    estimates.renew(filter, { total, until: performance.now() + estimateMs })
    return total
  })

  return {
    /** Reads a page without counting the list. */
    read,

    /**
     * Reads a page and the number of all items. `filter` is the list and its filter: the estimate of a long list is
     * remembered for a minute.
     */
    readCounted: <Row>(
      request: PageRequest,
      filter: ReadonlyArray<unknown>,
      select: Select,
    ): Effect.Effect<CountedPage<Row>, Unavailable> =>
      Effect.map(
        Effect.all([read<Row>(request, select), estimate(JSON.stringify(filter), select)], {
          concurrency: "unbounded",
        }),
        ([page, total]) => ({ ...page, total }),
      ),

    /** Reads a page of the items that were found by a filter. Fails if there are too many to sort them. */
    readFound: Effect.fnUntraced(function* <Row>(
      request: PageRequest,
      tooMany: string,
      find: (q: Client) => Found,
    ) {
      const all = (q: Client) => {
        const { matching, ...found } = find(q)
        return { ...found, ranges: [q`(${matching} limit ${maxCounted + 1}) found where true`] }
      }
      const counted = yield* count(all)
      if (counted > maxCounted) return yield* new InvalidRequest({ error: tooMany })
      return { ...(yield* read<Row>(request, all)), total: { count: counted, isEstimate: false } }
    }),
  }
})

export type Pages = Effect.Success<typeof makePages>
