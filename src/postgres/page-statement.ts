import type { KeyType, Position } from "../../schema/cursor.ts"
import { maxCounted, type PageRequest } from "../../schema/paging.ts"
import { type Client, column, type SqlPiece } from "./sql.ts"

/** What a page needs of a range: the first items behind a position. */
interface Reach {
  readonly isBehind: SqlPiece
  readonly direction: SqlPiece
  readonly limit: number
}

/**
 * A part of a list, as `table where condition`. A range that is a function must be limited by itself, because no index
 * has its items in the right order.
 */
export type Range = SqlPiece | ((reach: Reach) => SqlPiece)

const pieceOf = (range: Range, reach: Reach): SqlPiece => (typeof range === "function" ? range(reach) : range)

/** What a list contains, and by which columns it is sorted. */
export interface Selection {
  /**
   * The ranges of the list. An item of the list is in exactly one of them. For each range there is an index that begins with the columns of the condition and continues with `keys`, so that it has the
   * items in the right order. Postgres merges the items of several ranges.
   */
  readonly ranges: ReadonlyArray<Range>
  /** The sort columns. Only the first one can be null; such items are last in both directions. */
  readonly keys: ReadonlyArray<SqlPiece>
  readonly types: ReadonlyArray<KeyType>
  /** The query for what is returned of an item. The sort columns of the item are `p.k0`, `p.k1` and so on. */
  readonly item: SqlPiece
}

/** A position and the direction in which the list is read from there. */
interface Walk {
  readonly isForward: boolean
  readonly position: Position | undefined
}

const casts: Readonly<Record<KeyType, string>> = {
  time: "timestamptz",
  text: "text",
  "text?": "text",
  uuid: "uuid",
  integer: "bigint",
  boolean: "boolean",
}

const join = (q: Client, pieces: ReadonlyArray<SqlPiece>, separator: SqlPiece): SqlPiece =>
  pieces.reduce((all, piece) => q`${all}${separator}${piece}`)

/** A part of a range: the items whose first sort column is null, or the other items. */
interface Part {
  readonly condition: SqlPiece
  /** The number of leading sort columns that are the same for all items. */
  readonly constant: number
}

const makeStatement = (q: Client, { dir }: PageRequest, selection: Selection, walk: Walk) => {
  const { keys, ranges, types } = selection
  const { isForward, position } = walk
  const isAscending = (dir === "Asc") === isForward
  const direction = isAscending ? q`asc` : q`desc`
  const comma = q`, `
  const isNullable = types[0] === "text?"

  const values = (constant: number) =>
    types
      .slice(constant)
      .map((type, n) => q`${position!.key[n + constant] ?? null}::text::${q.unsafe(casts[type])}`)
  /** The items behind the position. A comparison of rows is a range of the index. */
  const behind = (constant: number) => {
    if (position === undefined) return q`true`
    const operator = q.unsafe(`${isAscending ? ">" : "<"}${position.isInclusive ? "=" : ""}`)
    return q`(${join(q, keys.slice(constant), comma)}) ${operator} (${join(q, values(constant), comma)})`
  }
  const partsOfNullable = (): ReadonlyArray<Part> => {
    const [first] = keys
    const isAtNull = position !== undefined && position.key[0] === null
    const filled = { condition: q`${first!} is not null`, constant: 0 }
    const empty = { condition: q`${first!} is null`, constant: 1 }
    if (position === undefined) return [filled, empty]
    // The items with null are the last ones of the list.
    const here = isAtNull
      ? { ...empty, condition: q`${empty.condition} and ${behind(1)}` }
      : { ...filled, condition: q`${filled.condition} and ${behind(0)}` }
    if (isAtNull) return isForward ? [here] : [here, filled]
    return isForward ? [here, empty] : [here]
  }
  const parts = isNullable ? partsOfNullable() : [{ condition: behind(0), constant: 0 }]

  const named = join(
    q,
    keys.map((key, n) => q`${key} as ${column(q, `k${n}`)}`),
    comma,
  )
  const orderOf = (columns: ReadonlyArray<SqlPiece>) =>
    join(
      q,
      columns.map((column) => q`${column} ${direction}`),
      comma,
    )
  const places = keys.map((_, n) => column(q, `k${n}`))
  const [firstPlace, ...otherPlaces] = places
  const nulls = isNullable ? (isForward ? q`nulls last` : q`nulls first`) : q``
  const order = join(
    q,
    [q`${firstPlace!} ${direction} ${nulls}`, ...otherPlaces.map((place) => q`${place} ${direction}`)],
    comma,
  )
  /**
   * The first `most` items. Each part is limited by itself, so that the plan reads no more than these items of an index
   * whatever the planner's statistics are.
   */
  const first = (most: number, skipped: number) => {
    const branches = ranges.flatMap((range) =>
      parts.map(
        ({ condition, constant }) =>
          q`(select ${named} from ${pieceOf(range, { isBehind: condition, direction, limit: most + skipped })} and ${condition}
              order by ${orderOf(keys.slice(constant))} limit ${most + skipped})`,
      ),
    )
    return q`select * from (${join(q, branches, q` union all `)}) u order by ${order} limit ${most} offset ${skipped}`
  }
  return { first, order, places }
}

const walkOf = ({ after, before }: PageRequest): Walk => ({
  isForward: before === undefined,
  position: after ?? before,
})

/** Returns the statement that reads a page, and one item more. With `before`, the items are in reverse order. */
export const pageStatement = (q: Client, request: PageRequest, selection: Selection): SqlPiece => {
  const { first, order, places } = makeStatement(q, request, selection, walkOf(request))
  const key = join(
    q,
    places.map((place) => q`p.${place}::text`),
    q`, `,
  )
  return q`select array[${key}] as page_key, item.*
             from (${first(request.limit + 1, request.limit * request.page)}) p
            cross join lateral (${selection.item} offset 0) item order by ${order}`
}

/** Returns the expression whether the list has items before the position of `after`, or after that of `before`. */
export const otherSideExists = (q: Client, request: PageRequest, selection: Selection): SqlPiece => {
  const { isForward, position } = walkOf(request)
  if (position === undefined) return q`false`
  const { first } = makeStatement(q, request, selection, {
    isForward: !isForward,
    position: { key: position.key, isInclusive: !position.isInclusive },
  })
  return q`exists (${first(1, 0)})`
}

/** Returns a query with one row per item of the list. */
export const allItems = (q: Client, { ranges }: Pick<Selection, "ranges">): SqlPiece =>
  join(
    q,
    ranges.map(
      (range) =>
        q`select 1 from ${pieceOf(range, { isBehind: q`true`, direction: q`asc`, limit: maxCounted + 1 })}`,
    ),
    q` union all `,
  )
