import { createHmac, timingSafeEqual } from "node:crypto"
import type { KeyRing } from "../../crypto/key-ring.ts"

const toleranceSeconds = 300
const pattern = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

/** Signs the time and the body. The receiver can detect a change of either, and reject a message that is too old. */
export const signWebhook = (ring: KeyRing, body: Uint8Array, nowMs: number): string => {
  const seconds = Math.floor(nowMs / 1000)
  return `t=${seconds},v1=${createHmac("sha256", ring.current).update(`${seconds}.`).update(body).digest("hex")}`
}

export const webhookSigned = (ring: KeyRing, body: Uint8Array, header: string, nowMs: number): boolean => {
  const [, seconds, signature] = pattern.exec(header) ?? []
  if (seconds === undefined || signature === undefined) return false
  if (Math.abs(nowMs / 1000 - Number(seconds)) > toleranceSeconds) return false
  return [...ring.all.values()].some((key) =>
    timingSafeEqual(
      createHmac("sha256", key).update(`${seconds}.`).update(body).digest(),
      Buffer.from(signature, "hex"),
    ),
  )
}
