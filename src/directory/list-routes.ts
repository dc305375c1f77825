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
  description:
    "Returns the ids as text. `user_id` lists the ids of another user and `organization_id` those of an organization; each requires a scope. A sign-in with the OAuth flow gets only the id that its user has chosen. Pages beyond the first are linked in the header `Link`.",
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
  description: "The same list as `GET /emoji_id` with details of each id.",
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
