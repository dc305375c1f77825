import { Schema } from "effect"
import { displayFormat } from "./emoji-display.ts"
import type { EmojiId } from "./emoji-id.ts"
import { ShapeMatch, shapeMatch } from "./shape.ts"
import { DateTime } from "./wire.ts"

/** An owned id as lists show it. */
export const EmojiListItem = Schema.Struct({
  canonical_format: Schema.String,
  chain_format: Schema.String,
  display_format: Schema.String,
  shortname: Schema.String,
  flippable_emoji: Schema.Array(Schema.Boolean),
  generation: Schema.Int,
  rhythm_score: Schema.Int,
  minted: Schema.Boolean,
  shape: ShapeMatch,
  blocked_until: Schema.optionalKey(DateTime),
  token_id: Schema.optionalKey(Schema.Int),
}).annotate({ identifier: "EmojiListItem" })
export type EmojiListItem = typeof EmojiListItem.Type

/** What the database knows of a registered id. */
export interface RegisteredFacts {
  readonly generation: number
  readonly token_id: number | null
  readonly minted_at: string | null
  readonly blocked_until: string | null
  /** Record 0x0001. */
  readonly modifiers: string | null
}

export const emojiListItem = (id: EmojiId, facts: RegisteredFacts, rhythmScore: number): EmojiListItem => ({
  canonical_format: id.canonical,
  chain_format: id.chain,
  display_format: displayFormat(id, facts.modifiers ?? undefined),
  shortname: id.shortname,
  flippable_emoji: id.flippable,
  generation: facts.generation,
  rhythm_score: rhythmScore,
  minted: facts.minted_at !== null,
  shape: shapeMatch(id),
  ...(facts.blocked_until === null ? {} : { blocked_until: facts.blocked_until }),
  ...(facts.token_id === null ? {} : { token_id: facts.token_id }),
})
