import { hash, randomUUID } from "node:crypto"

/** Computes a uuid from texts. The same texts always give the same uuid. */
export const uuidOf = (...texts: ReadonlyArray<string>): string => {
  const hex = hash("sha256", texts.join("/"))
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3]!
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const keyOf = (headers: Readonly<Record<string, string>>) => headers["idempotency-key"] || undefined

/**
 * Derives the operation key from the user, the Idempotency-Key and the contents of a request, so a repeated request
 * has the same operation key. Undefined if the request has no Idempotency-Key.
 */
export const operationKeyOf = (
  { userId }: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  ...facts: ReadonlyArray<unknown>
): string | undefined => {
  const key = keyOf(headers)
  return key === undefined ? undefined : uuidOf("run", userId, key, JSON.stringify(facts))
}

/** Like `operationKeyOf`, but returns a new random key if the request has no Idempotency-Key. */
export const operationKey = (...named: Parameters<typeof operationKeyOf>): string =>
  operationKeyOf(...named) ?? randomUUID()

/** An Idempotency-Key is remembered for this many seconds. Then it can be reused for another request. */
export const keySeconds = 86_400

export const isForgotten = (at: string, now: number): boolean => now - Date.parse(at) > 1000 * keySeconds
