import { type EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { type LootBoxTypeConfig, maxIdsPerBox } from "../../schema/lootboxes/lootbox.ts"
import { randomEmojiId } from "../market/suggestions-random.ts"

/** The range of scores from which one id of a lootbox is drawn. */
export interface ScoreBounds {
  readonly min_score: number
  readonly max_score: number
}

const baseBounds = ({ max_base_score, min_base_score }: LootBoxTypeConfig): ScoreBounds => ({
  min_score: min_base_score,
  max_score: max_base_score,
})

/**
 * Draws the score range of an id that is not guaranteed. Each weight is chosen with a probability of 1 / `ipr`. If no
 * weight is chosen, the base range applies. If the probabilities sum to more than 1, they are scaled down to a sum of
 * 1, and the base range never applies.
 */
export const drawBounds = (config: LootBoxTypeConfig, random: () => number): ScoreBounds => {
  const total = config.weights.reduce((sum, { ipr }) => sum + 1 / ipr, 0)
  let left = random() * Math.max(1, total)
  for (const { ipr, max_score, min_score } of config.weights) {
    left -= 1 / ipr
    if (left < 0) return { min_score, max_score }
  }
  return baseBounds(config)
}

/** Draws the score ranges of all ids of one lootbox. The ranges of the guaranteed ids are first. */
export const drawSlots = (config: LootBoxTypeConfig, random: () => number): ReadonlyArray<ScoreBounds> => {
  const guaranteed = config.guarantees.flatMap(({ count, max_score, min_score }) =>
    Array.from({ length: count }, () => ({ min_score, max_score })),
  )
  const drawn = Array.from({ length: config.size - guaranteed.length }, () => drawBounds(config, random))
  return [...guaranteed, ...drawn]
}

export const drawId = (
  { max_length, min_length }: LootBoxTypeConfig,
  { max_score, min_score }: ScoreBounds,
  random: () => number,
  withoutLengths: ReadonlyArray<number> = [],
): EmojiId | undefined =>
  randomEmojiId({
    random,
    withoutLengths,
    minLength: min_length,
    maxLength: max_length,
    minScore: min_score,
    maxScore: max_score,
  })

const isRange = (low: number, high: number, from: number, to: number) =>
  low >= from && high <= to && low <= high

/** Checks that lootboxes of a type can be generated. Fails with all faults of the configuration, by field. */
export const checkTypeConfig = (config: LootBoxTypeConfig, random: () => number) => {
  const faults = new FieldFaults()
  const { guarantees, max_length, min_length, size, weights } = config
  if (size < 1 || size > maxIdsPerBox) {
    faults.add("config.size", "range", `The size must be between 1 and ${maxIdsPerBox}.`)
  }
  const lengthsAreRight = isRange(min_length, max_length, 1, maxEmojiPerId)
  if (!lengthsAreRight) {
    faults.add(
      "config.min_length",
      "range",
      `Lengths must be between 1 and ${maxEmojiPerId}, and min_length must not exceed max_length.`,
    )
  }
  const checkScores = (field: string, bounds: ScoreBounds) => {
    if (!isRange(bounds.min_score, bounds.max_score, 1, 100)) {
      faults.add(
        field,
        "range",
        "Scores must be between 1 and 100, and the minimum must not exceed the maximum.",
      )
    } else if (lengthsAreRight && drawId(config, bounds, random) === undefined) {
      faults.add(field, "eligibility", "No emoji id with these lengths has a score in this range.")
    }
  }
  checkScores("config.min_base_score", baseBounds(config))
  for (const [place, guarantee] of guarantees.entries()) {
    checkScores(`config.guarantees.${place}`, guarantee)
    if (guarantee.count < 0)
      faults.add(`config.guarantees.${place}`, "range", "The count must not be negative.")
  }
  if (guarantees.reduce((sum, { count }) => sum + Math.max(0, count), 0) > size) {
    faults.add("config.guarantees", "range", "The guaranteed ids exceed the size of the lootbox.")
  }
  for (const [place, weight] of weights.entries()) {
    checkScores(`config.weights.${place}`, weight)
    if (weight.ipr <= 0)
      faults.add(
        `config.weights.${place}`,
        "range",
        "ipr must be greater than 0. It is the n of a 1:n chance.",
      )
  }
  return faults.check
}
