import { Effect } from "effect"
import { BoundedMap } from "../../actors/bounded-map.ts"
import type { Key, KeyType, Position } from "../../schema/cursor.ts"
import { InvalidRequest, type Unavailable } from "../../schema/errors.ts"
import { type CountedPage, maxCounted, type Page, type PageRequest, type Total } from "../../schema/paging.ts"
import type { Client, SqlPiece } from "./client.ts"
import {
  allItems,
  countedItems,
  itemsStatement,
  meetsItem,
  type Section,
  type Selection,
  sectionsOf,
  turned,
  walkOf,
} from "./page-statement.ts"
import { Sql } from "./sql.ts"

type Types = ReadonlyArray<KeyType>
type Select = (q: Client) => Omit<Selection, "types">

/** Items that match a filter which no index has in the order of the list. They are found by the filter and sorted. */
export interface Found extends Omit<Selection, "ranges" | "types"> {
  /**
   * The query for the sort columns and the columns of `item`, with the condition of the filter. It can have an order,
   * so that the planner uses the index of the filter.
   */
  readonly matching: SqlPiece
}

/** How long an estimate is used before the list is counted again. */
const estimateMs = 60_000
const maxEstimates = 1000

interface Keyed {
  readonly page_key: Key
}

interface Counted {
  readonly found_count?: number
}
/** How a list is read whose items were found by a filter. */
interface Filter {
  /** Adds the items that were found, and their number, to a statement. */
  readonly around: (q: Client, statement: SqlPiece) => SqlPiece
  readonly counted: (found: number) => void
}

const withoutKey = <Row>({ found_count: _, page_key: __, ...row }: Keyed & Counted & Row): Row =>
  row as unknown as Row

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

  /** Counts the items of a section, or of the whole list, up to a limit. */
  const count = (
    request: PageRequest,
    types: Types,
    select: Select,
    limit: number,
    { filter, section }: { readonly filter?: Filter | undefined; readonly section?: Section } = {},
  ) =>
    Effect.map(
      sql.rows<{ count: number }>((q) => {
        const items = countedItems(q, request, { ...select(q), types }, limit, section)
        const statement = q`select count(*)::int as count from (${items}) counted`
        return q`${filter?.around(q, statement) ?? statement}`
      }),
      ([row]) => row?.count ?? 0,
    )

  /** Reads a page, and one item more. The sections of the list are read one after the other. */
  const readItems = Effect.fnUntraced(function* <Row>(
    request: PageRequest,
    types: Types,
    select: Select,
    filter?: Filter,
  ) {
    const wanted = request.limit + 1
    const found: Array<Keyed & Row> = []
    let skipped = request.limit * request.page
    for (const section of sectionsOf(types, walkOf(request))) {
      const part = { section, limit: wanted - found.length, skipped }
      const rows = yield* sql.rows<Keyed & Row & Counted>((q) => {
        const statement = itemsStatement(q, request, { ...select(q), types }, part)
        return q`${filter?.around(q, statement) ?? statement}`
      })
      if (filter !== undefined) filter.counted(rows[0]?.found_count ?? 0)
      found.push(...rows.filter(({ page_key }) => page_key !== null))
      if (found.length === wanted || section === "all") break
      // The rest of the page is in the next section. What was skipped in this one is not skipped again.
      if (found.length > 0) skipped = 0
      else if (skipped > 0) skipped -= yield* count(request, types, select, skipped, { filter, section })
    }
    return found
  })

  const read = Effect.fnUntraced(function* <Row>(
    request: PageRequest,
    types: Types,
    select: Select,
    filter?: Filter,
  ) {
    const walk = walkOf(request)
    const [rows, [other]] = yield* Effect.all(
      [
        readItems<Row>(request, types, select, filter),
        walk.position === undefined
          ? Effect.succeed([])
          : sql.rows<{ exists: boolean }>((q) => {
              const statement = q`select ${meetsItem(q, request, { ...select(q), types }, turned(walk))} as exists`
              return q`${filter?.around(q, statement) ?? statement}`
            }),
      ],
      { concurrency: "unbounded" },
    )
    return toPage<Row>(request, rows, other?.exists ?? false)
  })

  const total = Effect.fnUntraced(function* (
    request: PageRequest,
    types: Types,
    filter: string,
    select: Select,
  ) {
    const known = estimates.get(filter)
    if (known !== undefined && known.until > performance.now()) return known.total
    const counted = yield* count(request, types, select, maxCounted + 1)
    if (counted <= maxCounted) return { count: counted, isEstimate: false }
    const [row] = yield* sql.rows<{ "QUERY PLAN": ReadonlyArray<Plan> }>(
      (q) => q`explain (format json) ${allItems(q, select(q))}`,
    )
    const planned = row?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0
    const estimate = { count: Math.max(Math.round(planned), counted), isEstimate: true }
    estimates.renew(filter, { total: estimate, until: performance.now() + estimateMs })
    return estimate
  })

  return {
    /** Reads a page without counting the list. `types` are the types of the sort columns. */
    read,

    /**
     * Reads a page and the number of all items. `filter` is the list and its filter: the estimate of a long list is
     * remembered for a minute.
     */
    readCounted: <Row>(
      request: PageRequest,
      types: Types,
      filter: ReadonlyArray<unknown>,
      select: Select,
    ): Effect.Effect<CountedPage<Row>, Unavailable> =>
      Effect.map(
        Effect.all(
          [read<Row>(request, types, select), total(request, types, JSON.stringify(filter), select)],
          { concurrency: "unbounded" },
        ),
        ([page, counted]) => ({ ...page, total: counted }),
      ),

    /** Reads a page of the items that were found by a filter. Fails if there are too many to sort them. */
    readFound: Effect.fnUntraced(function* <Row>(
      request: PageRequest,
      types: Types,
      tooMany: string,
      find: (q: Client) => Found,
    ) {
      let count = 0
      const select: Select = (q) => ({ ...find(q), ranges: [q`found where true`] })
      const page = yield* read<Row>(request, types, select, {
        around: (q, statement) => q`
          with found as materialized (${find(q).matching} limit ${maxCounted + 1})
          select one.found_count, page.* from (select count(*)::int as found_count from found) one
            left join (${statement}) page on true`,
        counted: (found) => {
          count = found
        },
      })
      if (count > maxCounted) return yield* new InvalidRequest({ error: tooMany })
      return { ...page, total: { count, isEstimate: false } }
    }),
  }
})
