import { Schema } from "effect"
import { DateTime, DateTimeIn, Json, optional, words } from "../wire-format.ts"
import { RecordInput } from "./records/record.ts"
import { parseWebUrl } from "./records/record-link.ts"

export const storeKeys = [
  "SvcPageData",
  "SvcLinkData",
  "VisualizerData",
  "VisualizerName",
  "VisualizerFileLocations",
] as const
export const StoreKey = words("StoreKey", storeKeys)
export type StoreKey = typeof StoreKey.Type

export const maxStoredBytes = 250 * 1024
const maxLinkedTags = 64

export const StoreJsonBody = Schema.Struct({
  data: Json,
  /**
   * The records that replace the linked records of the key. If this member is missing or null, the linked records do
   * not change.
   */
  linked_tags: optional(Schema.Array(RecordInput).check(Schema.isMaxLength(maxLinkedTags))),
  /** From this time on, only a caller with the scope adminEmoji:updateSecureData can write the entry. */
  locked_future_writes_at: optional(DateTimeIn),
}).annotate({ identifier: "StoreJsonBody" })
export type StoreJsonBody = typeof StoreJsonBody.Type

export const LoadJsonResponse = Schema.Struct({
  created_at: DateTime,
  updated_at: DateTime,
  data: Json,
  is_locked: Schema.Boolean,
  locked_future_writes_at: Schema.optionalKey(DateTime),
}).annotate({ identifier: "LoadJsonResponse" })
export type LoadJsonResponse = typeof LoadJsonResponse.Type

const fileMembers = ["gif", "image", "video", "webm"] as const
export type VisualizerFiles = { readonly [M in (typeof fileMembers)[number]]?: string }

/** Returns the URLs of the rendered files. Values that are not absolute http(s) URLs are omitted. */
export const visualizerFiles = (data: unknown): VisualizerFiles => {
  const members = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {}
  return Object.fromEntries(
    fileMembers.flatMap((name) => {
      const value = members[name]
      return typeof value === "string" && parseWebUrl(value) !== undefined ? [[name, value]] : []
    }),
  )
}

/** Returns the names of the file members whose value is not an absolute http(s) URL. */
export const findBadFileMembers = (data: unknown): ReadonlyArray<string> => {
  const members = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {}
  const valid = visualizerFiles(data)
  return fileMembers.filter(
    (name) => members[name] !== undefined && members[name] !== null && valid[name] === undefined,
  )
}

const tokens = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g
const exactDigits = 15

/**
 * Returns the first number in a JSON text that would change when it is parsed as a double and written again: a whole
 * number that is then written with other digits, or any number that is too large for a double. Undefined if there is
 * none.
 */
export const findInexactNumber = (json: string): string | undefined => {
  for (const [token] of json.matchAll(tokens)) {
    if (token.startsWith('"')) continue
    const number = Number(token)
    const isChanged = /^-?\d+$/.test(token) && token.length > exactDigits && String(number) !== token
    if (isChanged || !Number.isFinite(number)) return token
  }
  return undefined
}
