import { emojis } from "./emoji.ts"
import type { EmojiId } from "./emoji-id.ts"
import { findShape, type ShapeName } from "./emoji-shape.ts"

/**
 * A function from popularity to score. The score is `low` for popularity 0 and `high` for popularity 1. With `bow` 0 it
 * is a straight line; a positive `bow` raises the middle.
 */
interface Curve {
  readonly low: number
  readonly high: number
  readonly bow: number
}

const curve = (low: number, high: number, bow = 0): Curve => ({ low, high, bow })

/**
 * For each length from 1 to 6, the curve of ids without a shape and the curve of Repeaters. The curves of Repeaters
 * with four and five emoji are fitted to the measured scores. The curve with three emoji is fitted to the only two
 * measured ids of that length. The other curves are estimates. Each curve is below that of the next shorter length.
 */
const curves: ReadonlyArray<readonly [plain: Curve, repeaters: Curve]> = [
  [curve(100, 100), curve(100, 100)],
  [curve(93, 98.8), curve(97, 99.4)],
  [curve(66, 90), curve(88, 99.2, 1)],
  [curve(44, 76), curve(75.8, 95.1, 2.4)],
  [curve(22, 60), curve(59, 84)],
  [curve(1, 42), curve(40, 70)],
]

/**
 * The weight of each shape. With weight 0 an id has the score of an id without a shape, with weight 1 the score of
 * Repeaters. The score of weights between 0 and 1 is interpolated linearly.
 */
const shapeWorth: Readonly<Record<ShapeName, number>> = {
  Repeaters: 1,
  "Eye Heart": 0.6,
  Adoptables: 0.4,
  Bookends: 0.25,
}

const at = ({ bow, high, low }: Curve, popularity: number): number =>
  low + (high - low) * popularity + bow * popularity * (1 - popularity)

/** Returns the score of ids with this length, shape and mean popularity. The score depends on nothing else. */
export const scoreOf = (length: number, shape: ShapeName | undefined, popularity: number): number => {
  const [plain, repeaters] = curves[length - 1]!
  const floor = at(plain, popularity)
  const worth = shape === undefined ? 0 : shapeWorth[shape]
  return Math.min(100, Math.max(1, Math.round(floor + worth * (at(repeaters, popularity) - floor))))
}

export const meanPopularity = (indexes: ReadonlyArray<number>): number => {
  let sum = 0
  for (const index of indexes) sum += emojis[index]!.popularity
  return sum / indexes.length
}

/** Returns the rhythm score, from 1 (lowest) to 100. */
export const rhythmScore = (id: EmojiId): number =>
  scoreOf(id.length, findShape(id), meanPopularity(id.emojis))
