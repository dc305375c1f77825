import { hash, randomUUID } from "node:crypto"
import type { CheckoutCartRequest, RefundRequest } from "../../schema/orders/order.ts"

/** Computes a uuid from texts. The same texts always give the same uuid. */
export const uuidOf = (...texts: ReadonlyArray<string>): string => {
  const hex = hash("sha256", texts.join("/"))
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3]!
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const keyOf = (headers: Readonly<Record<string, string>>) => headers["idempotency-key"] || undefined

/** Derives the operation key from the request's Idempotency-Key. A repeated request has the same key. */
export const operationKeyOf = (
  { userId }: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  ...facts: ReadonlyArray<unknown>
): string | undefined => {
  const key = keyOf(headers)
  return key === undefined ? undefined : uuidOf("run", userId, key, JSON.stringify(facts))
}

/** The same. Without an Idempotency-Key, the result is a new random key. */
export const operationKey = (...named: Parameters<typeof operationKeyOf>): string =>
  operationKeyOf(...named) ?? randomUUID()

/**
 * The operation key of a manual booking. Without an Idempotency-Key it is derived from the amount and the reference, so
 * a double click books once, also by two administrators.
 */
export const bookingKey = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: { readonly amount?: number | null; readonly external_reference?: string | null },
): string =>
  keyOf(headers) === undefined && body.amount != null && body.external_reference
    ? uuidOf("booking", orderId.toLowerCase(), String(body.amount), body.external_reference)
    : operationKey(principal, headers, orderId, body)

/** How long an Idempotency-Key is stored. */
export const keySeconds = 86_400

/** Without an Idempotency-Key, the same request within this time counts as a repetition. */
const repeatSeconds = 600

/** An operation key, and how long the same key means the same operation. */
export interface Run {
  readonly name: string
  readonly seconds: number
}

/** A new operation that no other request repeats. */
export const freshRun = (): Run => ({ name: randomUUID(), seconds: keySeconds })

/**
 * The operation key of a refund. Without an Idempotency-Key it is derived from the request. A refund of the full
 * remaining amount needs no such key, because it can succeed only once.
 */
export const refundRun = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: RefundRequest,
): Run => {
  const { amount, item_ids, reason } = body
  if (keyOf(headers) !== undefined || amount == null)
    return { name: operationKey(principal, headers, orderId, body), seconds: keySeconds }
  const request = JSON.stringify([amount, reason ?? null, item_ids?.map((id) => id.toLowerCase()) ?? []])
  return { name: uuidOf("refund", orderId.toLowerCase(), request), seconds: repeatSeconds }
}

/** The operation key of a cash payment, which may have no reference. */
export const cashRun = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: CheckoutCartRequest,
): Run =>
  keyOf(headers) === undefined && body.amount != null && !body.external_reference
    ? { name: uuidOf("booking", orderId, String(body.amount)), seconds: repeatSeconds }
    : { name: bookingKey(principal, headers, orderId, body), seconds: keySeconds }

export const isForgotten = (at: string, now: number, seconds = keySeconds): boolean =>
  now - Date.parse(at) > 1000 * seconds

/**
 * The operation a request belongs to. It is a new operation if the result of the earlier one with this key has ended.
 */
export const currentRun = <T extends { readonly at: string }>(
  run: string,
  find: (run: string) => T | undefined,
  isOver: (made: T) => boolean,
): string => {
  const made = find(run)
  return made === undefined || !isOver(made) ? run : currentRun(uuidOf(run, made.at), find, isOver)
}
