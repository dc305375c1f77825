import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { emojis } from "../../schema/directory/emoji.ts"
import { ShapeMatch, shapeMatch } from "../../schema/directory/emoji-shape.ts"
import { EmojiStatsResponse } from "../../schema/directory/metric.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { NotFound, UnsupportedEmoji } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { getStatistics } from "./statistics.ts"

const group = "directory"
const params = { emoji_id: Schema.String }

// The set of supported emoji changes only with a release, so clients may cache the response.
const setReply = Effect.succeed(
  Reply.json(
    emojis.map(({ canonical }) => canonical),
    { headers: { "Cache-Control": "public, max-age=3600" } },
  ),
)

const emoji = route({
  id: "emojiList",
  group,
  summary: "List the supported emoji",
  description:
    "Returns the emoji from which emoji ids are made. The list grows with releases, and no emoji is ever removed. An emoji id has one to six of them.",
  method: "get",
  path: "/emoji",
  auth: "none",
  success: Schema.Array(Schema.String),
  errors: [],
  handler: () => setReply,
})

const metadata = route({
  id: "emojiIDMetadata",
  group,
  summary: "Get the shape and pattern of an emoji id, registered or not",
  description:
    "The result depends only on the emoji. `shape` is a named shape such as Bookends. `pattern` describes repeated emoji with letters, such as ABA.",
  method: "get",
  path: "/emoji_id/:emoji_id/metadata",
  auth: "none",
  params,
  success: ShapeMatch,
  errors: [UnsupportedEmoji],
  handler: ({ params }) => Effect.map(checkEmojiId(params.emoji_id), shapeMatch),
})

const rhythm = route({
  id: "rhythm",
  group,
  summary: "Get the rhythm score of an emoji id, 1 to 100",
  description:
    "Computed from the emoji alone: length, popularity and shape. The price of an id follows from its score.",
  method: "get",
  path: "/emoji_id/:emoji_id/rhythm",
  auth: "none",
  params,
  success: Schema.Struct({ rhythm: Schema.Int }).annotate({ identifier: "RhythmResponse" }),
  errors: [UnsupportedEmoji],
  handler: ({ params }) => Effect.map(checkEmojiId(params.emoji_id), (id) => ({ rhythm: rhythmScore(id) })),
})

const stats = route({
  id: "getStats",
  group,
  summary: "Get the number of lookups of an emoji id, in total and per day",
  description:
    "Counts lookups over HTTP. The counts are written in the background, so the newest lookups may be missing for a moment.",
  method: "get",
  path: "/emoji_id/:emoji_id/stats",
  auth: "apiKey",
  params,
  success: EmojiStatsResponse,
  errors: [UnsupportedEmoji, NotFound],
  handler: ({ params }) => Effect.flatMap(checkEmojiId(params.emoji_id), getStatistics),
})

export const emojiIds = [emoji, metadata, rhythm, stats] as const
