import { emojis, type Tone } from "./emoji.ts"
import { foldedSpellings } from "./emoji-table.ts"

/** Every accepted spelling of every emoji, as a tree over code points with U+FE0F left out. */
export interface SpellingNode {
  /** The emoji spelled by the path to here, or -1 when the path is only the start of a spelling. */
  index: number
  tone: Tone
  next: Map<number, SpellingNode> | undefined
}

const newNode = (): SpellingNode => ({ index: -1, tone: 0, next: undefined })

const root: SpellingNode = newNode()

const learn = (spelling: string, index: number, tone: Tone): void => {
  let node = root
  for (const character of spelling) {
    const codePoint = character.codePointAt(0) ?? 0
    node.next ??= new Map()
    const child = node.next.get(codePoint) ?? newNode()
    node.next.set(codePoint, child)
    node = child
  }
  if (node.index !== -1) throw new Error(`${spelling} spells two emoji`)
  node.index = index
  node.tone = tone
}

for (const { index, chain, toned } of emojis) {
  learn(chain, index, 0)
  for (const [tone, spelling] of toned) learn(spelling, index, tone)
}
for (const [emoji, spelling] of foldedSpellings) {
  learn(
    spelling,
    emojis.findIndex(({ canonical }) => canonical === emoji),
    0,
  )
}

export const spellings: ReadonlyMap<number, SpellingNode> = root.next ?? new Map()
