import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { EmojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { Conflict, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { optional, Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { toListItem } from "./id-lists.ts"
import { IdRegistry } from "./id-registry.ts"

const group = "admin"
const shortText = Schema.String.check(Schema.isMaxLength(320))

const register = route({
  id: "registerEmojiID",
  group,
  summary: "Register an emoji id for a user",
  description:
    "For administrators. The id is given to the user without an order. An id that is taken is 422 `uniqueness`.",
  method: "post",
  path: "/emoji_id",
  auth: "apiKey",
  scope: "adminEmoji:register",
  body: Schema.Struct({
    emoji_id: Schema.String,
    user_id: optional(Uuid),
    email: optional(shortText),
    /** The public key that will own the id. It must belong to the user. The default is the first key of the user. */
    pubkey: optional(shortText),
  }).annotate({ identifier: "RegisterEmojiIdRequest" }),
  success: EmojiListItem,
  errors: [UnsupportedEmoji, NotFound, Unprocessable],
  handler: ({ body }) =>
    Effect.flatMap(checkEmojiId(body.emoji_id), (id) =>
      atMostOnce(IdRegistry.use((registry) => registry.register(id, body))).pipe(
        Effect.map(({ rows }) => toListItem({ ...rows[0]!.result.listed, id })),
      ),
    ),
})

const destroy = route({
  id: "destroyEmojiID",
  group,
  summary: "Remove an emoji id from the directory",
  description:
    "For administrators. The records are deleted, and the id can be bought again. Returns the changed ids. A minted id, and an id with an active transfer, is 409.",
  method: "del",
  path: "/emoji_id/:emoji_id",
  auth: "apiKey",
  scope: "adminEmoji:destroy",
  params: { emoji_id: Schema.String },
  success: Schema.Array(Schema.String),
  errors: [UnsupportedEmoji, NotFound, Conflict],
  handler: ({ params }) =>
    Effect.flatMap(checkEmojiId(params.emoji_id), (id) =>
      Effect.as(atMostOnce(IdRegistry.use((registry) => registry.destroy(id))), [id.canonical]),
    ),
})

export const idRegistry = [register, destroy] as const
