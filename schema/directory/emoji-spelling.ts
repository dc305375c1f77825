import { emojis, type Tone } from "./emoji.ts"
import { foldedSpellings } from "./emoji-table.ts"

/**
 * A node of the prefix tree of all accepted spellings. Each edge of the tree is one code point. The tree does not
 * contain U+FE0F, which the parser skips.
 */
export interface SpellingNode {
  /** The index of the emoji that the path to this node spells. -1 if the path is only the beginning of a spelling. */
  index: number
  tone: Tone
  next: Map<number, SpellingNode> | undefined
}

const newNode = (): SpellingNode => ({ index: -1, tone: 0, next: undefined })

const root: SpellingNode = newNode()

const addSpelling = (spelling: string, index: number, tone: Tone): void => {
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
  addSpelling(chain, index, 0)
  for (const [tone, spelling] of toned) addSpelling(spelling, index, tone)
}
for (const [emoji, spelling] of foldedSpellings) {
  addSpelling(
    spelling,
    emojis.findIndex(({ canonical }) => canonical === emoji),
    0,
  )
}

export const spellings: ReadonlyMap<number, SpellingNode> = root.next ?? new Map()
