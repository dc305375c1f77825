import type { Tone } from "./emoji.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

/**
 * Returns the data of a display modifiers record (tag 0x0001). The record stores the skin tones with which the owner
 * wants the id to be displayed. Its data is the id itself, written with these skin tones.
 */
export const encodeDisplayModifiers = (id: EmojiId, tones: ReadonlyArray<Tone> = id.tones): string =>
  id.display(tones)

/** Returns the skin tones of a display modifiers record. Undefined if its data is another id or not an id. */
export const parseDisplayModifiers = (id: EmojiId, data: string): ReadonlyArray<Tone> | undefined => {
  const spelled = parseEmojiId(data)
  return spelled._tag === "EmojiId" && spelled.canonical === id.canonical ? spelled.tones : undefined
}

/**
 * Returns the id in display format: with the owner's skin tones, or in canonical form if there is no valid display
 * modifiers record. `modifiers` is the data of that record.
 */
export const displayFormat = (id: EmojiId, modifiers: string | undefined): string => {
  const tones = modifiers === undefined ? undefined : parseDisplayModifiers(id, modifiers)
  return tones === undefined ? id.canonical : id.display(tones)
}
