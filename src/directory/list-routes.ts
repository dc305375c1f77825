import { Schema } from "effect"
import { EmojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { pieceQuery } from "../../schema/paging.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { IdLists, type ListRequest, listAccess } from "./id-lists.ts"

const group = "directory"
const maxListed = 10_000

const query = {
  organization_id: Schema.optionalKey(Uuid),
  user_id: Schema.optionalKey(Uuid),
  ...pieceQuery(maxListed),
}

const toRequest = (given: {
  readonly organization_id?: string
  readonly user_id?: string
  readonly limit?: string
  readonly page?: string
}): ListRequest => ({
  organization_id: given.organization_id,
  user_id: given.user_id,
  limit: Number(given.limit ?? maxListed),
  page: Number(given.page ?? 0),
})

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
  handler: ({ principal, query }) => IdLists.use((ids) => ids.list(principal, toRequest(query))),
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
  handler: ({ principal, query }) => IdLists.use((ids) => ids.listExtended(principal, toRequest(query))),
})

export const idLists = [list, listExtended] as const
