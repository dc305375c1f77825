import { type EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { type LootBoxTypeConfig, maxIdsPerBox } from "../../schema/lootboxes/lootbox.ts"
import { randomEmojiId } from "../market/suggestions-random.ts"

/** The range of scores for one id of the box. */
export interface ScoreBounds {
  readonly min_score: number
  readonly max_score: number
}

const baseBounds = ({ max_base_score, min_base_score }: LootBoxTypeConfig): ScoreBounds => ({
  min_score: min_base_score,
  max_score: max_base_score,
})

/**
 * Draws the score range of an id that is not guaranteed. Each weight has a chance of one in `ipr`; otherwise the base
 * bounds apply. If the chances sum to more than one, they are scaled down to one and the base bounds never apply.
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

/** The score ranges of all ids of one box: first the guaranteed ones, then the drawn ones. */
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

/** Rejects a type from which no box can be generated. */
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
