import type { Client, SqlPiece } from "../postgres/client.ts"

/** The kinds of entities that have lists. Each has its own indexes, which only contain entities of this kind. */
type ListedKind = "order" | "lootbox" | "transfer"

/**
 * Returns the condition for the kind. The kind is part of the text of the statement: with a parameter, Postgres could
 * not use the indexes of the kind.
 */
export const isKind = (q: Client, kind: ListedKind): SqlPiece => q.unsafe(`kind = '${kind}'`)

/**
 * Returns the ranges of a list: one for each status, since the indexes contain the status before the sort columns. So
 * the same index serves the list of all entities and the list of those with one status.
 */
export const statusRanges = (
  q: Client,
  kind: ListedKind,
  statuses: ReadonlyArray<string>,
  condition: SqlPiece = q`true`,
): ReadonlyArray<SqlPiece> =>
  statuses.map((status) => q`entity where ${isKind(q, kind)} and status = ${status} and ${condition}`)

/** Returns the query for the status and the context of the entity with this id. */
export const entityItem = (q: Client, kind: ListedKind, id: SqlPiece): SqlPiece =>
  q`select e.status, e.state->'context' as context from entity e where e.kind = ${kind} and e.id = ${id}`
