import type { LedgerLine } from "../../schema/turn.ts"
import type { OrderContext, OrderItem, Refund } from "./context.ts"

/** The arithmetic of an order: integers only, and everything shown or booked is derived from its payments and refunds. */

interface Sum {
  readonly cents: number
}

const sum = <T extends Sum>(list: ReadonlyArray<T>, counts: (one: T) => boolean = () => true): number => {
  let total = 0
  for (const one of list) if (counts(one)) total += one.cents
  return total
}

export const totalCents = (items: ReadonlyArray<OrderItem>): number => sum(items)

export const capturedCents = (order: OrderContext): number => sum(order.payments)

const isDone = ({ status }: Refund) => status === "Refunded"
const isDoneOfSale = (refund: Refund) => isDone(refund) && refund.ofSale

export const refundedCents = (order: OrderContext): number => sum(order.refunds, isDone)

/** What of these refunds is for no item: those that name none, and what others give back beyond their items' price. */
const beyondItems = (order: OrderContext, counts: (refund: Refund) => boolean): number => {
  if (order.refunds.length === 0) return 0
  const refunds = order.refunds.filter(counts)
  const named = new Set(refunds.flatMap(({ itemIds }) => itemIds))
  const price = sum(order.items, ({ id }) => named.has(id))
  const forItems = sum(refunds, ({ itemIds }) => itemIds.length > 0)
  return sum(refunds) - Math.min(forItems, price)
}

/** Surplus, goodwill, money of orders that were never paid. */
export const miscRefundedCents = (order: OrderContext): number => beyondItems(order, isDone)

/** One refund goes back to as many payments as it takes: those, each a refund of its own at the provider. */
export const refundParts = ({ refunds }: OrderContext, refund: Refund): ReadonlyArray<Refund> =>
  refund.whole === undefined ? [refund] : refunds.filter(({ whole }) => whole === refund.whole)

/** What a refund may still take: not given back yet, and not on its way. */
export const refundableCents = (order: OrderContext): number =>
  capturedCents(order) - sum(order.refunds, ({ status }) => status !== "Failed")

/** Money that came in and was not given back before the order was paid: what counts towards the price. */
const receivedCents = (order: OrderContext): number =>
  capturedCents(order) - (refundedCents(order) - sum(order.refunds, isDoneOfSale))

/** What is on its way back to the buyer pays for nothing any more. */
const leavingCents = (order: OrderContext): number =>
  sum(order.refunds, ({ ofSale, status }) => status === "Pending" && !ofSale)

export const dueCents = (order: OrderContext): number =>
  Math.max(0, totalCents(order.items) - (receivedCents(order) - leavingCents(order)))

const surplus = (order: OrderContext): number => Math.max(0, receivedCents(order) - totalCents(order.items))

const refundedSurplus = (order: OrderContext): number =>
  Math.min(surplus(order), beyondItems(order, isDoneOfSale))

export const overpaidCents = (order: OrderContext): number => {
  if (order.paidAt !== undefined) return surplus(order) - refundedSurplus(order)
  return order.cancelled === undefined ? 0 : receivedCents(order)
}

/** What the books say of an order, added so many times. Funds are what we have, the rest is what we have it for. */
const book = (accounts: Map<string, number>, order: OrderContext, times: 1 | -1): void => {
  const add = (account: string, cents: number) =>
    accounts.set(account, (accounts.get(account) ?? 0) + times * cents)
  for (const { cents, provider } of order.payments) add(`funds:${provider}`, cents)
  for (const refund of order.refunds) if (isDone(refund)) add(`funds:${refund.provider}`, -refund.cents)
  if (order.paidAt === undefined) add("held", -receivedCents(order))
  else {
    add("sales", -totalCents(order.items))
    add("overpaid", -overpaidCents(order))
    add("refunds", sum(order.refunds, isDoneOfSale) - refundedSurplus(order))
  }
}

const byAccount = (a: LedgerLine, b: LedgerLine): number => (a.account < b.account ? -1 : 1)

/** The journal of a turn: what the balances are after it, less what they were. It sums to zero because both do. */
export const journal = (
  before: OrderContext,
  after: OrderContext,
  reference: string,
): ReadonlyArray<LedgerLine> => {
  const changes = new Map<string, number>()
  book(changes, after, 1)
  book(changes, before, -1)
  const lines: Array<LedgerLine> = []
  for (const [account, cents] of changes) if (cents !== 0) lines.push({ account, cents, reference })
  return lines.sort(byAccount)
}
