import { Effect, Schema } from "effect"
import { NotFound } from "../../schema/errors.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { type Asset, findAsset } from "./assets.ts"

const encodings = ["br", "gzip"] as const
const smallestWorthCompressing = 512

const isCompressed = ({ type }: Asset) => type === "image/png" || type === "font/woff2"

const encodingFor = (asset: Asset, accepted: string) =>
  isCompressed(asset) || asset.body.length < smallestWorthCompressing
    ? undefined
    : encodings.find((encoding) => new RegExp(`\\b${encoding}\\b(?!;\\s*q=0(\\.0+)?(,|$))`).test(accepted))

const asset = route({
  id: "asset",
  group: "pages",
  summary: "Get a script, style sheet or image of a page",
  method: "get",
  path: "/assets/:name",
  auth: "none",
  internal: true,
  params: { name: Schema.String },
  query: { v: Schema.optionalKey(Schema.String) },
  headers: ["accept-encoding"],
  success: Schema.Unknown,
  produces: "application/octet-stream",
  errors: [NotFound],
  handler: ({ headers, params, query }) => {
    const found = findAsset(params.name)
    if (found === undefined) return new NotFound({ error: "This file does not exist." })
    const encoding = encodingFor(found, headers["accept-encoding"] ?? "")
    return Effect.succeed(
      Reply.raw(encoding === undefined ? found.body : found.compressed(encoding), {
        "Content-Type": found.type,
        // A page of another release may request this file with the hash of its own version. The browser must not
        // cache our content under that hash.
        "Cache-Control":
          found.isHashed || query.v === found.hash ? "public, max-age=31536000, immutable" : "no-cache",
        Vary: "Accept-Encoding",
        ETag: `"${found.hash}${encoding === undefined ? "" : `-${encoding}`}"`,
        ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
      }),
    )
  },
})

export const assets = [asset] as const
