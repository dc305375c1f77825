import { randomUUID } from "node:crypto"
import { Effect, Redacted } from "effect"
import { makeKeyRing } from "../../src/crypto/key-ring.ts"
import { signWebhook } from "../../src/orders/payments/sandbox-signature.ts"
import type { MasterKey } from "./open.ts"

export interface PaidIntent {
  readonly orderId: string
  readonly intentId: string
  readonly cents: number
}

export interface SignedWebhook {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Returns a function that builds the signed webhook of a sandbox payment. With it, a payment is a single request and
 * does not wait for the sandbox.
 */
export function webhookSigner(keys: readonly MasterKey[]): (paid: PaidIntent) => SignedWebhook {
  const named = keys.map(({ id, secret }) => ({ id, secret: Redacted.make(secret) }))
  const ring = Effect.runSync(makeKeyRing(named, "sandbox-webhook"))
  return (paid) => {
    const fact = `sandbox:pay_bench_${randomUUID()}`
    const body = JSON.stringify({
      id: `evt_${randomUUID()}`,
      event: { kind: "captured", provider: "sandbox", fact, ...paid },
    })
    const signature = signWebhook(ring, Buffer.from(body), Date.now())
    return { body, headers: { "Sandbox-Signature": signature } }
  }
}
