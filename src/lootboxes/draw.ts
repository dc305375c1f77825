import { type EmojiId, maxEmojiPerId } from "../../schema/directory/emoji-id.ts"
import { FieldFaults } from "../../schema/field-faults.ts"
import { type LootBoxTypeConfig, maxIdsPerBox } from "../../schema/lootboxes/lootbox.ts"
import { randomEmojiId } from "../market/suggestions-random.ts"

/** Scores an id of the box may have. */
export interface ScoreBounds {
  readonly min_score: number
  readonly max_score: number
}

const baseBounds = ({ max_base_score, min_base_score }: LootBoxTypeConfig): ScoreBounds => ({
  min_score: min_base_score,
  max_score: max_base_score,
})

/**
 * One slot nobody guarantees anything for: each weight has a chance of one in `ipr`, the base bounds have the rest. Chances
 * that sum to more than one are scaled down to one, and leave nothing to the base bounds.
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

/** The bounds of every slot of one box: what is guaranteed, then what luck gives. */
export const drawSlots = (config: LootBoxTypeConfig, random: () => number): ReadonlyArray<ScoreBounds> => {
  const guaranteed = config.guarantees.flatMap(({ count, max_score, min_score }) =>
    Array.from({ length: count }, () => ({ min_score, max_score })),
  )
  const lucky = Array.from({ length: config.size - guaranteed.length }, () => drawBounds(config, random))
  return [...guaranteed, ...lucky]
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

/** A type that could never fill a box is refused when it is made, not when it is used. */
export const checkTypeConfig = (config: LootBoxTypeConfig, random: () => number) => {
  const faults = new FieldFaults()
  const { guarantees, max_length, min_length, size, weights } = config
  if (size < 1 || size > maxIdsPerBox) {
    faults.add("config.size", "range", `A box holds 1 to ${maxIdsPerBox} ids.`)
  }
  const lengthsAreRight = isRange(min_length, max_length, 1, maxEmojiPerId)
  if (!lengthsAreRight) {
    faults.add("config.min_length", "range", `Lengths go from 1 to ${maxEmojiPerId}, the least first.`)
  }
  const checkScores = (field: string, bounds: ScoreBounds) => {
    if (!isRange(bounds.min_score, bounds.max_score, 1, 100)) {
      faults.add(field, "range", "Scores go from 1 to 100, the least first.")
    } else if (lengthsAreRight && drawId(config, bounds, random) === undefined) {
      faults.add(field, "eligibility", "No id of these lengths has such a score.")
    }
  }
  checkScores("config.min_base_score", baseBounds(config))
  for (const [place, guarantee] of guarantees.entries()) {
    checkScores(`config.guarantees.${place}`, guarantee)
    if (guarantee.count < 0) faults.add(`config.guarantees.${place}`, "range", "A count is not negative.")
  }
  if (guarantees.reduce((sum, { count }) => sum + Math.max(0, count), 0) > size) {
    faults.add("config.guarantees", "range", "More ids are guaranteed than the box holds.")
  }
  for (const [place, weight] of weights.entries()) {
    checkScores(`config.weights.${place}`, weight)
    if (weight.ipr <= 0) faults.add(`config.weights.${place}`, "range", "ipr is the n of 1:n, above zero.")
  }
  return faults.check
}
