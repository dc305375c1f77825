import { Effect, Schema } from "effect"
import { EmojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { linked } from "../http/response/page-links.ts"
import { route } from "../http/route.ts"
import { IdLists, listAccess } from "./id-lists.ts"
import { idQuery } from "./id-store.ts"

const group = "directory"
const query = {
  organization_id: Schema.optionalKey(Uuid),
  user_id: Schema.optionalKey(Uuid),
  ...idQuery,
}

const list = route({
  id: "listEmojiIDs",
  group,
  summary: "List your emoji ids, or those of a user (admins) or organization (power roles)",
  method: "get",
  path: "/emoji_id",
  auth: "apiKey",
  access: listAccess,
  oauth: true,
  query,
  success: Schema.Array(Schema.String),
  errors: [],
  handler: ({ path, principal, query, search }) =>
    Effect.gen(function* () {
      const { list, page, request } = yield* IdLists.use((ids) => ids.list(principal, query))
      return linked(list, request, page, page.rows, { path, search })
    }),
})

const listExtended = route({
  id: "listExtended",
  group,
  summary: "List emoji ids with their formats, rhythm score, shape and token id",
  method: "get",
  path: "/emoji_id/extended",
  auth: "apiKey",
  access: listAccess,
  query,
  success: Schema.Array(EmojiListItem),
  errors: [],
  handler: ({ path, principal, query, search }) =>
    Effect.gen(function* () {
      const { list, page, request } = yield* IdLists.use((ids) => ids.listExtended(principal, query))
      return linked(list, request, page, page.rows, { path, search })
    }),
})

export const idLists = [list, listExtended] as const
