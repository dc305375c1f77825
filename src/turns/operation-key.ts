import { hash, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { CurrentOperation } from "../../actors/operation.ts"

/** Computes a uuid from texts. The same texts always give the same uuid. */
export const uuidOf = (...texts: ReadonlyArray<string>): string => {
  const hex = hash("sha256", texts.join("/"))
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3]!
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * Identifies an attempt that an earlier write of a request makes, such as using up a code. A retry of the request has the
 * same id, so it does not fail because of its own attempt. `facts` are what is attempted: a key can be reused later.
 */
export const attemptId = (...facts: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(CurrentOperation, (operation) =>
    operation === undefined ? randomUUID() : uuidOf("attempt", operation.caller, operation.key, ...facts),
  )

/** The release before remembered an Idempotency-Key for this many seconds. Its bookings are found by the key for as long. */
export const keySeconds = 86_400
