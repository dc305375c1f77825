import type { LedgerLine } from "../../schema/turn.ts"
import type { OrderContext, OrderItem, Refund } from "./context.ts"

/** Computes the amounts of an order in integer US cents from its items, payments and refunds. */

interface Sum {
  readonly cents: number
}

const sum = <T extends Sum>(list: ReadonlyArray<T>, counts: (one: T) => boolean = () => true): number => {
  let total = 0
  for (const one of list) if (counts(one)) total += one.cents
  return total
}

/**
 * The fee for a price: the share in hundredths of a percent, rounded towards zero to whole cents. A discount has a
 * negative price and a negative fee. So a full discount cancels the fee, and the fees of an item never exceed its price.
 */
export const feeCents = (cents: number, basisPoints: number): number =>
  Math.trunc((cents * basisPoints) / 10_000) + 0

export const totalCents = (items: ReadonlyArray<OrderItem>): number => sum(items)

/** The items that can still be bought: without the items that others have taken, and without their discounts. */
export const payableItems = (
  items: ReadonlyArray<OrderItem>,
  isTaken: (claim: string) => boolean,
): ReadonlyArray<OrderItem> => {
  const taken = new Set(
    items.filter(({ claim }) => claim !== undefined && isTaken(claim)).map(({ id }) => id),
  )
  return taken.size === 0
    ? items
    : items.filter(({ id, parentId }) => !taken.has(id) && !taken.has(parentId ?? ""))
}

export const capturedCents = (order: OrderContext): number => sum(order.payments)

const isDone = ({ status }: Refund) => status === "Refunded"
const isDoneOfSale = (refund: Refund) => isDone(refund) && refund.ofSale

export const refundedCents = (order: OrderContext): number => sum(order.refunds, isDone)

/** The sum of the selected refunds minus the part that refunds the price of items. */
const beyondItems = (order: OrderContext, counts: (refund: Refund) => boolean): number => {
  if (order.refunds.length === 0) return 0
  const refunds = order.refunds.filter(counts)
  const named = new Set(refunds.flatMap(({ itemIds }) => itemIds))
  const price = sum(order.items, ({ id }) => named.has(id))
  const forItems = sum(refunds, ({ itemIds }) => itemIds.length > 0)
  return sum(refunds) - Math.min(forItems, price)
}

/**
 * The sum of refunds that are not for an item: overpayments, goodwill, payments of orders that were never paid fully.
 */
export const miscRefundedCents = (order: OrderContext): number => beyondItems(order, isDone)

/** All parts of the refund that this one belongs to. A refund of several payments has one part per payment. */
export const refundParts = ({ refunds }: OrderContext, refund: Refund): ReadonlyArray<Refund> =>
  refund.whole === undefined ? [refund] : refunds.filter(({ whole }) => whole === refund.whole)

/** Whether all parts of the refund that this one belongs to were made. */
export const isComplete = (order: OrderContext, refund: Refund): boolean =>
  refundParts(order, refund).every(isDone)

/** The amount that can still be refunded: payments minus completed and pending refunds. */
export const refundableCents = (order: OrderContext): number =>
  capturedCents(order) - sum(order.refunds, ({ status }) => status !== "Failed")

/** Whether the completed refunds have returned the price of these items, or all money of the order. */
export const isPaidBack = (order: OrderContext, itemIds: ReadonlyArray<string>): boolean => {
  const forItems = sum(order.refunds, (one) => isDone(one) && one.itemIds.some((id) => itemIds.includes(id)))
  return (
    forItems >= sum(order.items, ({ id }) => itemIds.includes(id)) ||
    refundedCents(order) >= capturedCents(order)
  )
}

/** Payments minus the refunds that were made before the order was paid. This amount counts towards the price. */
const receivedCents = (order: OrderContext): number =>
  capturedCents(order) - (refundedCents(order) - sum(order.refunds, isDoneOfSale))

/** The sum of pending refunds of an unpaid order. This money no longer counts towards the price. */
const pendingRefundCents = (order: OrderContext): number =>
  sum(order.refunds, ({ ofSale, status }) => status === "Pending" && !ofSale)

export const dueCents = (order: OrderContext): number =>
  Math.max(0, totalCents(order.items) - (receivedCents(order) - pendingRefundCents(order)))

const surplus = (order: OrderContext): number => Math.max(0, receivedCents(order) - totalCents(order.items))

const refundedSurplus = (order: OrderContext): number =>
  Math.min(surplus(order), beyondItems(order, isDoneOfSale))

export const overpaidCents = (order: OrderContext): number => {
  if (order.paidAt !== undefined) return surplus(order) - refundedSurplus(order)
  return order.cancelled === undefined ? 0 : receivedCents(order)
}

/**
 * Adds the account balances of an order to `accounts`, or subtracts them if `times` is -1. The accounts `funds:…` are
 * assets. The other accounts show the purpose of the money. Their balances have the opposite sign, so that all
 * balances sum to zero.
 */
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

/**
 * The ledger lines of a turn: the balances after the turn minus the balances before it. The balances sum to zero both
 * times, so the lines sum to zero too.
 */
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
