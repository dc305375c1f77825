import { hash, randomUUID } from "node:crypto"

/** A uuid that anybody computes alike from the same texts. */
export const uuidOf = (...texts: ReadonlyArray<string>): string => {
  const bytes = hash("sha256", texts.join("/"), "buffer").subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

const keyOf = (headers: Readonly<Record<string, string>>) => headers["idempotency-key"] || undefined

/** Names a write by its Idempotency-Key: sent again after its answer was lost, it is the same write. */
export const runId = (
  { userId }: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  ...facts: ReadonlyArray<unknown>
): string => {
  const key = keyOf(headers)
  return key === undefined ? randomUUID() : uuidOf("run", userId, key, JSON.stringify(facts))
}

/** Names money that is booked by hand. Without a key its reference does, whoever books it: clicked twice it is one booking. */
export const bookingId = (
  principal: { readonly userId: string },
  headers: Readonly<Record<string, string>>,
  orderId: string,
  body: { readonly amount?: number | null; readonly external_reference?: string | null },
): string =>
  keyOf(headers) === undefined && body.amount != null && body.external_reference
    ? uuidOf("booking", orderId.toLowerCase(), String(body.amount), body.external_reference)
    : runId(principal, headers, orderId, body)

/** How long an Idempotency-Key is remembered. */
export const keySeconds = 86_400

/** The run a request belongs to: the one its key names, or a later one when that was made before the key was forgotten. */
export const currentRun = (run: string, now: number, madeAt: (run: string) => string | undefined): string => {
  const at = madeAt(run)
  return at === undefined || now - Date.parse(at) <= 1000 * keySeconds
    ? run
    : currentRun(uuidOf(run, at), now, madeAt)
}
