import { createHash } from "node:crypto"
import { isUuid } from "./wire-format.ts"

/**
 * The types of the columns by which a list is sorted. A cursor contains the values of these columns as text, as
 * Postgres formats them. `text?` is a text that can be null.
 */
export type KeyType = "time" | "text" | "text?" | "uuid" | "integer" | "boolean"
export type Key = ReadonlyArray<string | null>

/** A position in a sorted list. */
export interface Position {
  /** The values of the sort columns of a row. The row may have been deleted in the meantime. */
  readonly key: Key
  /** True if a page at this position contains a row with exactly this key. */
  readonly isInclusive: boolean
}

/** What a cursor belongs to. A cursor is refused by another list, and with another sort order or direction. */
export interface CursorContext {
  readonly list: string
  readonly sort: string
  readonly dir: string
  readonly types: ReadonlyArray<KeyType>
}

export const maxCursorChars = 4096

/** Whether the text is a time in the format of the database: 2026-01-31 12:00:00.123456+00. */
export const isDatabaseTime = (text: string): boolean => {
  const [, day, time] = /^(?!0000)(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})?\+00$/.exec(text) ?? []
  const ms = Date.parse(`${day}T${time}Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(`${day}T${time}`)
}

const isText = (text: string): boolean => !text.includes("\0")

const isOfType: Readonly<Record<KeyType, (value: unknown) => boolean>> = {
  time: (value) => typeof value === "string" && isDatabaseTime(value),
  text: (value) => typeof value === "string" && isText(value),
  "text?": (value) => value === null || (typeof value === "string" && isText(value)),
  uuid: (value) => typeof value === "string" && isUuid(value),
  integer: (value) => typeof value === "string" && /^-?\d{1,18}$/.test(value),
  boolean: (value) => value === "true" || value === "false",
}

const checksumBytes = 6

/** Detects a cursor that was cut off or changed by mistake. It is no signature: a cursor gives no access to anything. */
const checksum = (json: string): Buffer =>
  createHash("sha256").update(json).digest().subarray(0, checksumBytes)

export const encodeCursor = ({ dir, list, sort }: CursorContext, { isInclusive, key }: Position): string => {
  const json = JSON.stringify([list, sort, dir, isInclusive, ...key])
  return Buffer.concat([checksum(json), Buffer.from(json)]).toString("base64url")
}

const readContent = (text: string): ReadonlyArray<unknown> | undefined => {
  const bytes = Buffer.from(text, "base64url")
  const json = bytes.subarray(checksumBytes).toString()
  const isComplete =
    text.length <= maxCursorChars &&
    bytes.toString("base64url") === text &&
    checksum(json).equals(bytes.subarray(0, checksumBytes))
  if (!isComplete) return undefined
  try {
    const content: unknown = JSON.parse(json)
    return Array.isArray(content) ? content : undefined
  } catch {
    return undefined
  }
}

/** Returns the position of a cursor, or a text that says why the cursor cannot be used. */
export const decodeCursor = (context: CursorContext, text: string): Position | string => {
  const content = readContent(text)
  if (content === undefined) return "expected a cursor from an earlier response, unchanged"
  const { dir: wantedDir, list: wantedList, sort: wantedSort, types } = context
  const [list, sort, dir, isInclusive, ...key] = content
  if (list !== wantedList) return "this cursor belongs to another list; use one from a response of this list"
  if (sort !== wantedSort || dir !== wantedDir)
    return `this cursor belongs to sort=${sort}, dir=${dir}; send the same sort and dir, or start again without a cursor`
  const isValid =
    typeof isInclusive === "boolean" &&
    key.length === types.length &&
    types.every((type, n) => isOfType[type](key[n]))
  return isValid
    ? { key: key as unknown as Key, isInclusive }
    : "expected a cursor from an earlier response, unchanged"
}
