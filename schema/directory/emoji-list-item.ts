import { Schema } from "effect"
import { DateTime } from "../wire-format.ts"
import { displayFormat } from "./emoji-display.ts"
import type { EmojiId } from "./emoji-id.ts"
import { ShapeMatch, shapeMatch } from "./emoji-shape.ts"

export const Generation = Schema.Int.annotate({ description: "Always 0. It has no known meaning." })

export const EmojiListItem = Schema.Struct({
  canonical_format: Schema.String,
  chain_format: Schema.String,
  display_format: Schema.String,
  shortname: Schema.String,
  flippable_emoji: Schema.Array(Schema.Boolean),
  generation: Generation,
  rhythm_score: Schema.Int,
  minted: Schema.Boolean.annotate({
    description: "Whether the id is minted as a token. Administrators record it.",
  }),
  shape: ShapeMatch,
  blocked_until: Schema.optionalKey(DateTime),
  token_id: Schema.optionalKey(Schema.Int),
  version: Schema.Int,
}).annotate({ identifier: "EmojiListItem" })
export type EmojiListItem = typeof EmojiListItem.Type

/** The stored values of a registered id. All other members of an EmojiListItem are calculated from its emoji. */
export interface Registration {
  readonly generation: number
  readonly minted: boolean
  readonly tokenId: number
  readonly version: number
  readonly blockedUntil: string | null
  /** The data of the display modifiers record. Null if the id has no such record. */
  readonly modifiers: string | null
}

export const emojiListItem = (id: EmojiId, rhythmScore: number, stored: Registration): EmojiListItem => ({
  canonical_format: id.canonical,
  chain_format: id.chain,
  display_format: displayFormat(id, stored.modifiers ?? undefined),
  shortname: id.shortname,
  flippable_emoji: id.flippable,
  generation: stored.generation,
  rhythm_score: rhythmScore,
  minted: stored.minted,
  shape: shapeMatch(id),
  ...(stored.blockedUntil !== null && { blocked_until: stored.blockedUntil }),
  token_id: stored.tokenId,
  version: stored.version,
})
