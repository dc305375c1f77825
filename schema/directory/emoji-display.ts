import type { Tone } from "./emoji.ts"
import { type EmojiId, parseEmojiId } from "./emoji-id.ts"

/**
 * Record 0x0001 holds how the owner wants the id shown. Its text is the id itself, spelled in the wanted skin tones: it
 * needs no code of its own, any client can write it, and reading it back gives the tones.
 */
export const encodeDisplayModifiers = (id: EmojiId, tones: ReadonlyArray<Tone> = id.tones): string =>
  id.display(tones)

/** The tones such a record asks for, or undefined when it spells another id or none. */
export const parseDisplayModifiers = (id: EmojiId, data: string): ReadonlyArray<Tone> | undefined => {
  const spelled = parseEmojiId(data)
  return spelled._tag === "EmojiId" && spelled.canonical === id.canonical ? spelled.tones : undefined
}

/** display_format: the owner's tones re-applied, or canonical when there is no usable record. */
export const displayFormat = (id: EmojiId, modifiers: string | undefined): string => {
  const tones = modifiers === undefined ? undefined : parseDisplayModifiers(id, modifiers)
  return tones === undefined ? id.canonical : id.display(tones)
}
