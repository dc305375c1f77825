import { emojis } from "../../schema/directory/emoji.ts"
import { EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import type { ShapeName } from "../../schema/directory/emoji-shape.ts"
import { rhythmScore, scoreOf } from "../../schema/directory/rhythm-score.ts"

export interface RandomEmojiIdOptions {
  /** Returns a number from 0 to below 1, like Math.random. */
  readonly random: () => number
  readonly minLength: number
  readonly maxLength: number
  /** Excluded lengths. */
  readonly withoutLengths?: ReadonlyArray<number>
  readonly minScore?: number | undefined
  readonly maxScore?: number | undefined
}

interface Plan {
  readonly length: number
  readonly shape: ShapeName | undefined
  /** The interval of mean popularities whose score is within the bounds. */
  readonly lowest: number
  readonly highest: number
  readonly weight: number
}

const maxTries = 256
const popularitySteps = 100

/** The share of results with a shape. Most results have none. */
const plannedShapes: ReadonlyArray<readonly [ShapeName | undefined, share: number]> = [
  [undefined, 0.86],
  ["Bookends", 0.08],
  ["Repeaters", 0.06],
]

const fits = (length: number, shape: ShapeName | undefined): boolean =>
  shape === undefined || (shape === "Bookends" ? length > 2 : length > 1)

/**
 * All lengths and shapes that can have a score within the bounds. There are more long ids, so they have more weight.
 */
const plans = ({
  maxLength,
  maxScore = 100,
  minLength,
  minScore = 1,
  withoutLengths = [],
}: RandomEmojiIdOptions): ReadonlyArray<Plan> => {
  const found: Array<Plan> = []
  const longest = Math.min(maxLength, maxEmojiPerId)
  for (let length = Math.max(1, minLength); length <= longest; length++) {
    if (withoutLengths.includes(length)) continue
    for (const [shape, share] of plannedShapes) {
      if (!fits(length, shape)) continue
      const within = Array.from({ length: popularitySteps + 1 }, (_, step) => step / popularitySteps).filter(
        (popularity) => {
          const score = scoreOf(length, shape, popularity)
          return score >= minScore && score <= maxScore
        },
      )
      const [lowest, highest] = [within[0], within.at(-1)]
      if (lowest === undefined || highest === undefined) continue
      found.push({ length, shape, lowest, highest, weight: length * share })
    }
  }
  return found
}

const pickPlan = (choices: ReadonlyArray<Plan>, random: () => number): Plan | undefined => {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0)
  for (const choice of choices) {
    left -= choice.weight
    if (left < 0) return choice
  }
  return choices.at(-1)
}

/** Emoji ordered by popularity. A popularity corresponds to a position in this list. */
const byPopularity = emojis.toSorted((a, b) => a.popularity - b.popularity)
const firstAtLeast = (popularity: number): number => {
  const found = byPopularity.findIndex((emoji) => emoji.popularity >= popularity)
  return found === -1 ? byPopularity.length - 1 : found
}

/** `slack` adds that many emoji on both sides, because a narrow interval may contain no emoji. */
const build = ({ highest, length, lowest, shape }: Plan, slack: number, random: () => number): EmojiId => {
  const from = Math.max(0, firstAtLeast(lowest) - slack)
  const to = Math.min(byPopularity.length - 1, firstAtLeast(highest) + slack)
  const pick = (): number => byPopularity[from + Math.floor(random() * (to - from + 1))]!.index
  const first = pick()
  if (shape === "Repeaters") return new EmojiId(Array<number>(length).fill(first))
  const rest = Array.from({ length: length - 1 }, pick)
  return new EmojiId(shape === "Bookends" ? [first, ...rest.slice(0, -1), first] : [first, ...rest])
}

/** Returns a random id within the bounds; undefined if no id meets them. */
export const randomEmojiId = (options: RandomEmojiIdOptions): EmojiId | undefined => {
  const { maxScore = 100, minScore = 1, random } = options
  const choices = plans(options)
  for (let tries = 0; tries < maxTries; tries++) {
    const plan = pickPlan(choices, random)
    if (plan === undefined) return undefined
    const id = build(plan, tries, random)
    // The id may have another shape by chance, or emoji at the edge of the interval, so its score is checked.
    const score = rhythmScore(id)
    if (score >= minScore && score <= maxScore) return id
  }
  return undefined
}
