import { emojiRows, pairSpellings } from "./emoji-table.ts"

/** One emoji of the set and its forms. */
export interface Emoji {
  readonly index: number
  /** Fully qualified, without a skin tone. */
  readonly canonical: string
  /** Canonical without U+FE0F. */
  readonly chain: string
  readonly name: string
  /** 0 to 1, fitted to measured rhythm scores. */
  readonly popularity: number
  /** The form per skin tone. Empty if the emoji has no skin tones. */
  readonly toned: ReadonlyMap<Tone, string>
  readonly flippable: boolean
}

/** 0 is no tone, 1 to 5 are U+1F3FB to U+1F3FF, two digits are two tones, for example 25 for a handshake. */
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
