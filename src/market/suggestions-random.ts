import { emojis } from "../../schema/directory/emoji.ts"
import { EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import type { ShapeName } from "../../schema/directory/emoji-shape.ts"
import { rhythmScore, scoreOf } from "../../schema/directory/rhythm-score.ts"

export interface RandomEmojiIdOptions {
  /** Returns a number from 0 to below 1, like Math.random. */
  readonly random: () => number
  readonly minLength: number
  readonly maxLength: number
  /** Lengths that the id must not have. */
  readonly withoutLengths?: ReadonlyArray<number>
  readonly minScore?: number | undefined
  readonly maxScore?: number | undefined
}

interface Plan {
  readonly length: number
  readonly shape: ShapeName | undefined
  /**
   * `lowest` and `highest` are the limits of the mean popularity. An id of this length and shape whose mean popularity
   * is between them has a score within the requested bounds.
   */
  readonly lowest: number
  readonly highest: number
  readonly weight: number
}

const maxTries = 256
const popularitySteps = 100

/** The share of the results that have no shape (undefined) or one of these shapes. */
const plannedShapes: ReadonlyArray<readonly [ShapeName | undefined, share: number]> = [
  [undefined, 0.86],
  ["Bookends", 0.08],
  ["Repeaters", 0.06],
]

const fits = (length: number, shape: ShapeName | undefined): boolean =>
  shape === undefined || (shape === "Bookends" ? length > 2 : length > 1)

/**
 * Returns all combinations of length and shape that can have a score within the bounds. There are more long ids than
 * short ones, so a longer length has more weight.
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

/** All emoji, ordered by popularity. An interval of popularities corresponds to a range of indexes in this list. */
const byPopularity = emojis.toSorted((a, b) => a.popularity - b.popularity)
const firstAtLeast = (popularity: number): number => {
  const found = byPopularity.findIndex((emoji) => emoji.popularity >= popularity)
  return found === -1 ? byPopularity.length - 1 : found
}

/**
 * Makes a random id of the plan. `slack` extends the range of usable emoji by that many emoji on both sides, because a
 * narrow interval of popularities may contain no emoji.
 */
const build = ({ highest, length, lowest, shape }: Plan, slack: number, random: () => number): EmojiId => {
  const from = Math.max(0, firstAtLeast(lowest) - slack)
  const to = Math.min(byPopularity.length - 1, firstAtLeast(highest) + slack)
  const pick = (): number => byPopularity[from + Math.floor(random() * (to - from + 1))]!.index
  const first = pick()
  if (shape === "Repeaters") return new EmojiId(Array<number>(length).fill(first))
  const rest = Array.from({ length: length - 1 }, pick)
  return new EmojiId(shape === "Bookends" ? [first, ...rest.slice(0, -1), first] : [first, ...rest])
}

/**
 * Returns a random id within the bounds. Undefined if no id is within the bounds, or if none was found in 256 tries.
 */
export const randomEmojiId = (options: RandomEmojiIdOptions): EmojiId | undefined => {
  const { maxScore = 100, minScore = 1, random } = options
  const choices = plans(options)
  for (let tries = 0; tries < maxTries; tries++) {
    const plan = pickPlan(choices, random)
    if (plan === undefined) return undefined
    const id = build(plan, tries, random)
    // The score is checked, because the id may by chance have another shape than planned, or emoji outside the
    // interval.
    const score = rhythmScore(id)
    if (score >= minScore && score <= maxScore) return id
  }
  return undefined
}
