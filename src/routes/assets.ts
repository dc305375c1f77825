import { Effect, Schema } from "effect"
import { NotFound } from "../../schema/errors.ts"
import { Reply } from "../http/reply.ts"
import { route } from "../http/route.ts"
import { findAsset } from "../web/assets.ts"

const asset = route({
  id: "asset",
  group: "pages",
  summary: "A file of ours that a page loads",
  method: "get",
  path: "/assets/:name",
  auth: "none",
  internal: true,
  params: { name: Schema.String },
  success: Schema.Unknown,
  produces: "application/octet-stream",
  errors: [NotFound],
  handler: ({ params }) => {
    const found = findAsset(params.name)
    return found === undefined
      ? new NotFound({ error: "There is no such file." })
      : Effect.succeed(
          Reply.raw(found.body, {
            "Content-Type": found.type,
            "Cache-Control": "public, max-age=31536000, immutable",
            ETag: `"${found.hash}"`,
          }),
        )
  },
})

export const assets = [asset] as const
