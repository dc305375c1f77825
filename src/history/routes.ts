import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { HistoryResponse, historyList, historyQuery } from "../../schema/directory/history.ts"
import { NotFound, UnsupportedEmoji } from "../../schema/errors.ts"
import { pageRequest } from "../../schema/paging.ts"
import { listAccess } from "../directory/id-lists.ts"
import { etagOf, isHeld, lookupHeaders } from "../directory/lookup/answer.ts"
import { admitCold } from "../directory/lookup/cold-limit.ts"
import { checkRegistered, Lookups } from "../directory/lookup/lookups.ts"
import { authHeaders } from "../http/guards.ts"
import { linksOf } from "../http/response/page-links.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { Histories } from "./history.ts"

const privateHeaders = { "Cache-Control": "private, no-store" }

const history = route({
  id: "emojiIdHistory",
  group: "lookup",
  summary: "List the changes of an emoji id, newest first",
  description:
    "Returns the version, the kind and the time of each change since the id was registered. With the credentials of the owner, `changes` says what was changed while this owner had the id. Pages beyond the first are linked in the header `Link`. Without `changes`, send the `ETag` as `If-None-Match` to get 304 while nothing has changed.",
  method: "get",
  path: "/emoji_id/:emoji_id/history",
  auth: "optional",
  access: listAccess,
  limit: "read",
  needsAddress: true,
  params: { emoji_id: Schema.String },
  query: historyQuery,
  headers: ["if-none-match", ...authHeaders],
  success: HistoryResponse,
  errors: [UnsupportedEmoji, NotFound],
  handler: Effect.fnUntraced(function* ({ params, principal, query, ...request }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const wanted = yield* pageRequest(historyList, query)
    // An id that is not registered counts like a lookup of it, so this route is no faster way to search for ids.
    const lookup = yield* (yield* Lookups).find(id, admitCold(request))
    yield* checkRegistered(lookup)
    const etag = { ETag: etagOf(lookup.own), ...lookupHeaders }
    if (principal === null && isHeld(lookup.own, request.headers["if-none-match"] ?? "")) {
      return Reply.empty(304, etag)
    }
    const found = yield* Histories.use((histories) => histories.read(id, principal, wanted))
    const body = {
      view: found.isOwner ? ("owner" as const) : ("public" as const),
      version: found.version,
      complete_since: found.completeSince,
      result: found.page.rows,
    }
    const headers = {
      ...(principal === null ? etag : privateHeaders),
      ...linksOf(historyList, wanted, found.page, request),
    }
    return Reply.json(body, { headers })
  }),
})

export const histories = [history] as const
