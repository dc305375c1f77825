import { emojiRows, pairSpellings } from "./emoji-table.ts"

/** One emoji of the supported set, with its forms. */
export interface Emoji {
  readonly index: number
  /** The fully qualified emoji without a skin tone. */
  readonly canonical: string
  /** The canonical form without the character U+FE0F. */
  readonly chain: string
  readonly name: string
  /** A number from 0 to 1 that was calculated from measured rhythm scores. */
  readonly popularity: number
  /** The emoji in each skin tone. Empty if the emoji has no skin tones. */
  readonly toned: ReadonlyMap<Tone, string>
  readonly flippable: boolean
}

/**
 * The skin tone of an emoji. 0 is no tone, and 1 to 5 are the modifiers U+1F3FB to U+1F3FF. A number of two digits
 * means two tones, for example 25 for a handshake with tones 2 and 5.
 */
export type Tone = number

const lightestTone = 0x1f3fb
const tones = [1, 2, 3, 4, 5] as const

const tonedForms = (canonical: string, chain: string): ReadonlyMap<Tone, string> => {
  const pairs = pairSpellings.filter(([emoji]) => emoji === canonical)
  return new Map<Tone, string>([
    ...tones.map((tone) => [tone, chain + String.fromCodePoint(lightestTone + tone - 1)] as const),
    ...pairs.map(([, tone, spelling]) => [tone, spelling] as const),
  ])
}

const noTones: ReadonlyMap<Tone, string> = new Map()

export const emojis: ReadonlyArray<Emoji> = emojiRows.map(
  ([canonical, name, popularity, takesTones, flippable], index) => {
    const chain = canonical.replaceAll("\uFE0F", "")
    const toned = takesTones ? tonedForms(canonical, chain) : noTones
    return { index, canonical, chain, name, popularity, toned, flippable }
  },
)
