import { hash, randomUUID } from "node:crypto"

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

/** How long an Idempotency-Key is remembered. */
export const keySeconds = 86_400

export const isForgotten = (at: string, now: number): boolean => now - Date.parse(at) > 1000 * keySeconds
