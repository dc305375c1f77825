import type { KeyType, Position } from "../../schema/cursor.ts"
import { maxCounted, type PageRequest } from "../../schema/paging.ts"
import { type Client, column, type SqlPiece } from "./client.ts"

/** What a page needs of a range: the first items behind a position. */
interface Reach {
  readonly isBehind: SqlPiece
  /** Compares the first sort column of an item behind the position with that of the position. */
  readonly compareFirst: (value: SqlPiece) => SqlPiece
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
  /** The columns in whose order the items are counted, if their index is smaller than that of `keys`. */
  readonly countedBy?: ReadonlyArray<SqlPiece>
  /** The query for what is returned of an item. The sort columns of the item are `p.k0`, `p.k1` and so on. */
  readonly item: SqlPiece
}

/** A position and the direction in which the list is read from there. */
export interface Walk {
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

/**
 * The sections of a list whose first sort column can be null: the items that have a value, and those with null. They
 * are read one after the other, because no index has all items with null at the end in both directions. Other lists
 * have one section.
 */
export type Section = "all" | "filled" | "empty"

export const walkOf = ({ after, before }: PageRequest): Walk => ({
  isForward: before === undefined,
  position: after ?? before,
})

/** A walk in the other direction. It begins with the item at the position if `walk` does not contain it. */
export const turned = ({ isForward, position }: Walk): Walk => ({
  isForward: !isForward,
  position: position && { key: position.key, isInclusive: !position.isInclusive },
})

/** Returns the sections in the order in which they are read from the position. */
export const sectionsOf = (types: Selection["types"], walk: Walk): ReadonlyArray<Section> => {
  if (types[0] !== "text?") return ["all"]
  const { isForward, position } = walk
  if (position === undefined) return isForward ? ["filled", "empty"] : ["empty", "filled"]
  const here = position.key[0] === null ? "empty" : "filled"
  const last = isForward ? "empty" : "filled"
  return here === last ? [here] : [here, last]
}

const isIn = (
  q: Client,
  { keys, types }: Selection,
  { isAscending, position }: Reading,
  section: Section,
) => {
  const [first] = keys
  const isEmpty = position?.key[0] === null
  const isHere = section === "all" || (section === "empty") === isEmpty
  const within =
    section === "filled" ? q`${first!} is not null` : section === "empty" ? q`${first!} is null` : q`true`
  if (position === undefined || !isHere) return within
  const from = section === "empty" ? 1 : 0
  const operator = q.unsafe(`${isAscending ? ">" : "<"}${position.isInclusive ? "=" : ""}`)
  const values = types.map((type, n) => q`${position.key[n] ?? null}::text::${q.unsafe(casts[type])}`)
  const comma = q`, `
  // A comparison of rows is a range of the index.
  return q`${within} and (${join(q, keys.slice(from), comma)}) ${operator} (${join(q, values.slice(from), comma)})`
}

interface Reading {
  readonly isAscending: boolean
  readonly position: Position | undefined
}

/** Returns the order of a section: all columns in the same direction. */
const orderOf = (q: Client, columns: ReadonlyArray<SqlPiece>, direction: SqlPiece) =>
  join(
    q,
    columns.map((one) => q`${one} ${direction}`),
    q`, `,
  )

/**
 * Returns the query for the sort columns of the first items of a section. Each range is limited by itself, so that the
 * plan reads no more than these items of an index, whatever the planner's statistics are.
 */
const firstItems = (
  q: Client,
  { dir }: Pick<PageRequest, "dir">,
  selection: Selection,
  walk: Walk,
  {
    limit,
    section,
    skipped,
  }: { readonly section: Section; readonly limit: number; readonly skipped: number },
): { readonly items: SqlPiece; readonly order: SqlPiece } => {
  const { keys, ranges } = selection
  const isAscending = (dir === "Asc") === walk.isForward
  const direction = isAscending ? q`asc` : q`desc`
  const isBehind = isIn(q, selection, { isAscending, position: walk.position }, section)
  const named = join(
    q,
    keys.map((key, n) => q`${key} as ${column(q, `k${n}`)}`),
    q`, `,
  )
  const first = walk.position?.key[0]
  const reach = {
    isBehind,
    direction,
    limit: limit + skipped,
    compareFirst: (value: SqlPiece) =>
      first == null
        ? q`true`
        : q`${value} ${isAscending ? q`>=` : q`<=`} ${first}::text::${q.unsafe(casts[selection.types[0]!])}`,
  }
  const parts = ranges.map(
    (range) =>
      q`(select ${named} from ${pieceOf(range, reach)} and ${isBehind}
          order by ${orderOf(q, keys, direction)} limit ${reach.limit})`,
  )
  const places = keys.map((_, n) => column(q, `k${n}`))
  const order = orderOf(q, places, direction)
  const items = q`select * from (${join(q, parts, q` union all `)}) u order by ${order} limit ${limit} offset ${skipped}`
  return { items, order }
}

/** Returns the statement that reads items of a section. With `before`, they are in reverse order. */
export const itemsStatement = (
  q: Client,
  request: PageRequest,
  selection: Selection,
  part: { readonly section: Section; readonly limit: number; readonly skipped: number },
): SqlPiece => {
  const { items, order } = firstItems(q, request, selection, walkOf(request), part)
  const key = join(
    q,
    selection.keys.map((_, n) => q`p.${column(q, `k${n}`)}::text`),
    q`, `,
  )
  return q`select array[${key}] as page_key, item.*
             from (${items}) p cross join lateral (${selection.item} offset 0) item order by ${order}`
}

/** Returns the expression whether the walk meets an item. */
export const meetsItem = (q: Client, request: PageRequest, selection: Selection, walk: Walk): SqlPiece =>
  join(
    q,
    sectionsOf(selection.types, walk).map(
      (section) =>
        q`exists (${firstItems(q, request, selection, walk, { section, limit: 1, skipped: 0 }).items})`,
    ),
    q` or `,
  )

/**
 * Returns a query with one row for each of the first items of the list or of a section, to count them. They are in the
 * order of an index, so the plan reads no more than these items of it.
 */
export const countedItems = (
  q: Client,
  request: PageRequest,
  selection: Selection,
  limit: number,
  section: Section = "all",
): SqlPiece => {
  const keys = (section === "all" ? selection.countedBy : undefined) ?? selection.keys
  const walk = { isForward: true, position: undefined }
  return firstItems(q, request, { ...selection, keys }, walk, { section, limit, skipped: 0 }).items
}

/** Returns a query with one row for each item of the list. Only the planner's estimate of it is used. */
export const allItems = (q: Client, { ranges }: Pick<Selection, "ranges">): SqlPiece =>
  join(
    q,
    ranges.map(
      (range) =>
        q`select 1 from ${pieceOf(range, { isBehind: q`true`, compareFirst: () => q`true`, direction: q`asc`, limit: maxCounted })}`,
    ),
    q` union all `,
  )
