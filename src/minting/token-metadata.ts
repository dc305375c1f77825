import { Effect } from "effect"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { findShape } from "../../schema/directory/emoji-shape.ts"
import { visualizerFiles } from "../../schema/directory/json-store.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { NotFound } from "../../schema/errors.ts"
import type { TokenMetadata } from "../../schema/minting/mint-signature.ts"
import { AppConfig } from "../config/read-config.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { JsonStore } from "../directory/json-store.ts"

/** Returns an image of the emoji as an SVG data URL. It is used if the owner has stored no rendered image. */
const defaultImage = (emojis: string, length: number): string => {
  const size = Math.floor(900 / Math.max(length, 2))
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000"><rect width="1000" height="1000" fill="#fff"/><text x="500" y="500" font-size="${size}" text-anchor="middle" dominant-baseline="central">${emojis}</text></svg>`
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`
}

/** Returns the metadata of a token for wallets and token markets. */
export const getTokenMetadata = Effect.fnUntraced(function* (tokenId: number) {
  const registered = yield* (yield* EmojiIds).findByToken(tokenId)
  if (registered === undefined) return yield* new NotFound({ error: "No emoji id has this token_id." })
  const { generation, id, modifiers } = registered
  const stored = yield* (yield* JsonStore).load(id, ["VisualizerFileLocations"])
  const files = visualizerFiles(stored.get("VisualizerFileLocations")?.data)
  const display = displayFormat(id, modifiers ?? undefined)
  const shape = findShape(id)
  const { baseUrl } = yield* AppConfig
  const metadata: TokenMetadata = {
    name: display,
    description: `The emoji id ${id.shortname}.`,
    image: files.image ?? files.gif ?? defaultImage(display, id.length),
    animation_url: files.video ?? files.webm ?? files.gif ?? "",
    external_link: `${baseUrl}/emoji_id/${encodeURIComponent(id.canonical)}`,
    attributes: [
      { trait_type: "Length", value: id.length },
      { trait_type: "Rhythm Score", value: rhythmScore(id) },
      { trait_type: "Generation", value: generation },
      ...(shape === undefined ? [] : [{ trait_type: "Shape", value: shape }]),
      ...id.shortNames.map((value) => ({ trait_type: "Emoji", value })),
    ],
  }
  return metadata
})
