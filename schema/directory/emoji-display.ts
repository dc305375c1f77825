import type { Tone } from "./emoji.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

/**
 * Record 0x0001 contains the skin tones in which the owner wants the id displayed. Its text is the id itself with these
 * skin tones, so it needs no special encoding.
 */
export const encodeDisplayModifiers = (id: EmojiId, tones: ReadonlyArray<Tone> = id.tones): string =>
  id.display(tones)

/** Returns the tones of such a record; undefined if its text is another id or no id. */
export const parseDisplayModifiers = (id: EmojiId, data: string): ReadonlyArray<Tone> | undefined => {
  const spelled = parseEmojiId(data)
  return spelled._tag === "EmojiId" && spelled.canonical === id.canonical ? spelled.tones : undefined
}

/** Returns display_format: the id with the owner's tones, or the canonical form if there is no valid record. */
export const displayFormat = (id: EmojiId, modifiers: string | undefined): string => {
  const tones = modifiers === undefined ? undefined : parseDisplayModifiers(id, modifiers)
  return tones === undefined ? id.canonical : id.display(tones)
}
