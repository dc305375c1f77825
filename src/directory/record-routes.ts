import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { EditRequest } from "../../schema/directory/edit-request.ts"
import { findRedirect } from "../../schema/directory/records/record-link.ts"
import { Conflict, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { checkRegistered, Lookups } from "./lookup/lookups.ts"
import { Records } from "./records.ts"
import { writeAccess, writePermissionOf } from "./write-permission.ts"

const edit = route({
  id: "editEmojiID",
  group: "directory",
  summary: "Add and remove records of an emoji id",
  description:
    "`insert` adds records, `delete` removes records by their hash, and all changes are made together or none. Returns the changed ids. Addresses with a known form are checked, and a record of a single-value category replaces the one before, unless `bypass_single_restrictions` is true. Subscribers of `emoji_id:{id}` get an event. If `merkle_root` is sent, it must match the new records. [Records](/docs/records) lists all tags with the form of their data and how it is checked.",
  method: "patch",
  path: "/emoji_id/:emoji_id",
  auth: "apiKey",
  access: writeAccess,
  scopesInCases: { "adminEmoji:updateSecureData": "a record with tag 0x0000 or 0x0003" },
  limit: "write",
  params: { emoji_id: Schema.String },
  body: EditRequest,
  bodyLimitBytes: 1024 * 1024,
  success: Schema.Array(Schema.String),
  errors: [UnsupportedEmoji, NotFound, Conflict, Unprocessable],
  handler: ({ body, params, principal }) =>
    Effect.flatMap(checkEmojiId(params.emoji_id), (id) =>
      atMostOnce(Records.use((records) => records.edit(id, writePermissionOf(principal), body))).pipe(
        Effect.map(({ rows }) => (rows.length > 0 ? [id.canonical] : [])),
      ),
    ),
})

const redirect = route({
  id: "linkRedirect",
  group: "directory",
  summary: "Redirect to a web link of an emoji id",
  description:
    "`link` names a web link (tag 0x4001) by name, URL or host. Without it, the target is the Redirect record (tag 0x0004). Only http and https addresses are used; without a target the answer is 404.",
  method: "get",
  path: "/redirect",
  auth: "none",
  limit: "read",
  query: { emoji_id: Schema.String, link: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(4096))) },
  status: 302,
  produces: "text/plain",
  success: Schema.Unknown,
  errors: [UnsupportedEmoji, NotFound],
  handler: Effect.fnUntraced(function* ({ query }) {
    const lookup = yield* (yield* Lookups).view(yield* checkEmojiId(query.emoji_id))
    const { result } = yield* checkRegistered(lookup)
    const url = findRedirect(result, query.link)
    if (url === undefined)
      return yield* new NotFound({ error: "This emoji id has no Redirect record and no web link." })
    return Reply.redirect(url, { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" })
  }),
})

export const records = [edit, redirect] as const
