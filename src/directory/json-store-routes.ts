import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import {
  findInexactNumber,
  LoadJsonResponse,
  maxStoredBytes,
  StoreJsonBody,
  StoreKey,
  storeKeys,
} from "../../schema/directory/json-store.ts"
import {
  BodyTooLarge,
  Conflict,
  fieldFault,
  invalidValue,
  NotFound,
  Unprocessable,
  UnsupportedEmoji,
} from "../../schema/errors.ts"
import { CommaList } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { JsonStore } from "./json-store.ts"
import { writeAccess, writePermissionOf } from "./write-permission.ts"

const group = "store"
const params = { emoji_id: Schema.String }
/**
 * The size limit of the request body. It is larger than the limit of the stored data, because escapes and white space
 * can make the body much larger than the data.
 */
const bodyLimitBytes = 4 * maxStoredBytes
const maxNumberShown = 40

const checkKeys = (text: string) => {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "")
  const keys = storeKeys.filter((key) => names.includes(key))
  return names.length > 0 && keys.length === names.length
    ? Effect.succeed(keys)
    : Effect.fail(invalidValue("query", "keys", `expected one or more of ${storeKeys.join(", ")}`))
}

const loadMany = route({
  id: "loadJsonIndex",
  group,
  summary: "Get the data stored under several keys of an emoji id",
  description:
    "Returns an object with one entry per key. A key without data has an empty object as its data.",
  method: "get",
  path: "/emoji_id/:emoji_id/json",
  auth: "none",
  limit: "read",
  params,
  query: { keys: CommaList },
  success: Schema.Record(Schema.String, LoadJsonResponse),
  errors: [UnsupportedEmoji, NotFound],
  handler: Effect.fnUntraced(function* ({ params, query }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const entries = yield* (yield* JsonStore).load(id, yield* checkKeys(query.keys))
    return Object.fromEntries(entries)
  }),
})

const loadOne = route({
  id: "loadJson",
  group,
  summary: "Get the data stored under one key of an emoji id, or an empty object",
  description:
    "The data is JSON that applications store with an id, for example the files of a visualizer. It is public.",
  method: "get",
  path: "/emoji_id/:emoji_id/json/:key",
  auth: "none",
  limit: "read",
  params: { ...params, key: StoreKey },
  success: LoadJsonResponse,
  errors: [UnsupportedEmoji, NotFound],
  handler: Effect.fnUntraced(function* ({ params }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const entries = yield* (yield* JsonStore).load(id, [params.key])
    return entries.get(params.key) ?? (yield* new NotFound({}))
  }),
})

const store = route({
  id: "storeJson",
  group,
  summary: "Store data under a key and replace its linked records",
  description:
    "Stores at most 250 KB under one of the fixed keys, and replaces the records that are linked with it by `linked_tags`: linked records that are not in the request are deleted. The owner of the id, power roles of its organization and administrators may store. A number that cannot be stored exactly is 422 `inexact_number`.",
  method: "post",
  path: "/emoji_id/:emoji_id/json/:key",
  auth: "apiKey",
  access: writeAccess,
  scopesInCases: {
    "adminEmoji:updateSecureData": "a locked entry, or a linked record with tag 0x0000 or 0x0003",
  },
  limit: "write",
  params: { ...params, key: StoreKey },
  body: StoreJsonBody,
  bodyLimitBytes,
  success: LoadJsonResponse,
  errors: [UnsupportedEmoji, NotFound, Conflict, BodyTooLarge, Unprocessable],
  handler: Effect.fnUntraced(function* ({ body, params, principal, rawBody }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const inexact = findInexactNumber(new TextDecoder().decode(rawBody))
    if (inexact !== undefined) {
      const shown = inexact.slice(0, maxNumberShown)
      return yield* fieldFault(
        "data",
        "inexact_number",
        `${shown} cannot be stored exactly. Send it as a string.`,
      )
    }
    const { rows } = yield* atMostOnce(
      JsonStore.use((jsonStore) => jsonStore.store(id, params.key, writePermissionOf(principal), body)),
    )
    return { ...rows[0]!.store!, data: body.data }
  }),
})

export const jsonStore = [loadMany, loadOne, store] as const
