import { emojis } from "./emoji.ts"
import type { EmojiId } from "./emoji-id.ts"
import { findShape, type ShapeName } from "./emoji-shape.ts"

/** A score over popularity: straight from `low` at 0 to `high` at 1, bowed upwards between. */
interface Curve {
  readonly low: number
  readonly high: number
  readonly bow: number
}

const curve = (low: number, high: number, bow = 0): Curve => ({ low, high, bow })

/**
 * Per length, the score without a shape and the score of all equal. Repeaters of four and five are fitted to the measured
 * scores, three to the two ids measured at that length; the other lengths continue the same steps, and each curve stays
 * under that of the next shorter length throughout.
 */
const curves: ReadonlyArray<readonly [plain: Curve, repeaters: Curve]> = [
  [curve(100, 100), curve(100, 100)],
  [curve(93, 98.8), curve(97, 99.4)],
  [curve(66, 90), curve(88, 99.2, 1)],
  [curve(44, 76), curve(75.8, 95.1, 2.4)],
  [curve(22, 60), curve(59, 84)],
  [curve(1, 42), curve(40, 70)],
]

/** How much of the way from no shape to all equal a shape is worth. */
const shapeWorth: Readonly<Record<ShapeName, number>> = {
  Repeaters: 1,
  "Eye Heart": 0.6,
  Adoptables: 0.4,
  Bookends: 0.25,
}

const at = ({ bow, high, low }: Curve, popularity: number): number =>
  low + (high - low) * popularity + bow * popularity * (1 - popularity)

/** The score of any id with this length, shape and mean popularity: nothing else about an id counts. */
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

/** 1, the lowest, to 100. */
export const rhythmScore = (id: EmojiId): number =>
  scoreOf(id.length, findShape(id), meanPopularity(id.emojis))
