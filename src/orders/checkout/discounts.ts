import { randomUUID } from "node:crypto"
import type { OrderItem } from "../../../machines/orders/context.ts"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { Code } from "../../../schema/orders/code.ts"
import { readIdPattern } from "../../../schema/orders/random-id-code.ts"

const isId = (item: OrderItem) => item.type === "EmojiId"

const discountOf = (parent: OrderItem, cents: number, at: string, codeId?: string): OrderItem => ({
  id: randomUUID(),
  type: "Discount",
  parentId: parent.id,
  ...(codeId === undefined ? {} : { codeId }),
  cents: -cents,
  createdAt: at,
  updatedAt: at,
})

const reduction = (code: Code, cents: number): number =>
  code.discount_as_percentage === null
    ? Math.min(cents, code.discount_in_cents ?? 0)
    : Math.round((cents * code.discount_as_percentage) / 100)

const isBetween = (value: number, least: number | null | undefined, most: number | null | undefined) =>
  value >= (least ?? value) && value <= (most ?? value)

const fits = ({ pattern }: Code) => {
  const { max_length, max_score, min_length, min_score } = readIdPattern(pattern)
  return ({ claim = "", rhythmScore = 0 }: OrderItem): boolean => {
    const id = parseEmojiId(claim)
    return (
      id._tag === "EmojiId" &&
      isBetween(id.length, min_length, max_length) &&
      isBetween(rhythmScore, min_score, max_score)
    )
  }
}

/**
 * Creates one discount for each id that matches the code, has a price and has no discount yet, in the order of the
 * cart. Creates at most `uses` discounts.
 */
export const codeDiscounts = (
  items: ReadonlyArray<OrderItem>,
  code: Code,
  uses: number,
  at: string,
): ReadonlyArray<OrderItem> => {
  const discounted = new Set(items.map(({ parentId }) => parentId))
  return items
    .filter((item) => isId(item) && item.cents > 0 && !discounted.has(item.id))
    .filter(fits(code))
    .slice(0, Math.max(0, uses))
    .map((item) => discountOf(item, reduction(code, item.cents), at, code.id))
}

/**
 * For each id with a remaining price, creates a discount that reduces this price to zero. Lootboxes get no discount.
 */
export const freeDiscounts = (items: ReadonlyArray<OrderItem>, at: string): ReadonlyArray<OrderItem> =>
  items.filter(isId).flatMap((item) => {
    const left = items.reduce(
      (sum, { cents, parentId }) => (parentId === item.id ? sum + cents : sum),
      item.cents,
    )
    return left > 0 ? [discountOf(item, left, at)] : []
  })
