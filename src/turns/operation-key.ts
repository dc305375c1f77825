import { hash, randomUUID } from "node:crypto"
import type { CheckoutCartRequest, RefundRequest } from "../../schema/orders/order.ts"

/** A uuid that anybody computes alike from the same texts. */
export const uuidOf = (...texts: ReadonlyArray<string>): string => {
  const hex = hash("sha256", texts.join("/"))
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3]!
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const keyOf = (headers: Readonly<Record<string, string>>) => headers["idempotency-key"] || undefined

/** The name an Idempotency-Key gives a write: sent again after its answer was lost, it is the same write. */
export const operationKeyOf = (
  { userId }: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  ...facts: ReadonlyArray<unknown>
): string | undefined => {
  const key = keyOf(headers)
  return key === undefined ? undefined : uuidOf("run", userId, key, JSON.stringify(facts))
}

/** The same; without a key a name like no other. */
export const operationKey = (...named: Parameters<typeof operationKeyOf>): string =>
  operationKeyOf(...named) ?? randomUUID()

/** Names money that is booked by hand. Without a key its reference does, whoever books it: clicked twice it is one booking. */
export const bookingKey = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: { readonly amount?: number | null; readonly external_reference?: string | null },
): string =>
  keyOf(headers) === undefined && body.amount != null && body.external_reference
    ? uuidOf("booking", orderId.toLowerCase(), String(body.amount), body.external_reference)
    : operationKey(principal, headers, orderId, body)

/** How long an Idempotency-Key is remembered. */
export const keySeconds = 86_400

/** Whoever clicks twice or sends a request again does it within this; who wants the same once more waits or says so. */
const repeatSeconds = 600

/** A write by its name, and for how long the same name means the same write. */
export interface Run {
  readonly name: string
  readonly seconds: number
}

/** A write like no other. */
export const freshRun = (): Run => ({ name: randomUUID(), seconds: keySeconds })

/** Names a refund. Without a key what is asked for does, whoever asks; all that is left can be asked for only once anyway. */
export const refundRun = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: RefundRequest,
): Run => {
  const { amount, item_ids, reason } = body
  if (keyOf(headers) !== undefined || amount == null)
    return { name: operationKey(principal, headers, orderId, body), seconds: keySeconds }
  const asked = JSON.stringify([amount, reason ?? null, item_ids?.map((id) => id.toLowerCase()) ?? []])
  return { name: uuidOf("refund", orderId.toLowerCase(), asked), seconds: repeatSeconds }
}

/** Names cash that is taken for an order, which need not have a reference. */
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

/** The run a request belongs to: the one its name says, or a later one when what was made by that name is over. */
export const currentRun = <T extends { readonly at: string }>(
  run: string,
  find: (run: string) => T | undefined,
  isOver: (made: T) => boolean,
): string => {
  const made = find(run)
  return made === undefined || !isOver(made) ? run : currentRun(uuidOf(run, made.at), find, isOver)
}
