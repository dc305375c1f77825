import { hash } from "node:crypto"
import type { Intent } from "../../../machines/orders/context.ts"
import type { KeyRing } from "../../crypto/key-ring.ts"

const nameDigits = 32

/**
 * Computes the ids of sandbox intents. The same secret key and text always give the same ids, and an id cannot be
 * guessed without the secret key. Each id is a part of one SHA-512 digest. An id is never the whole digest, because
 * that would allow a length extension attack. An HMAC takes three times as long and would be computed twice per
 * purchase.
 */
export class SandboxNames {
  readonly #currentId: string
  readonly #prefixes: ReadonlyMap<string, string>
  readonly #current: string

  constructor({ all, current, currentId }: KeyRing) {
    this.#currentId = currentId
    this.#prefixes = new Map([...all].map(([id, key]) => [id, key.export().toString("hex")]))
    this.#current = current.export().toString("hex")
  }

  of(key: string) {
    const digits = hash("sha512", `${this.#current}/intent/${key}`)
    const part = (n: number) => digits.slice(n * nameDigits, (n + 1) * nameDigits)
    return {
      intentId: `pi_sandbox_${part(0)}`,
      sessionId: `cs_sandbox_${part(1)}`,
      invoiceId: `inv_sandbox_${part(2)}`,
      secretKey: this.#currentId,
    }
  }

  /** Computes the client secret of an intent, so that the secret need not be stored. */
  secretOf({ intentId, secretKey = "" }: Pick<Intent, "intentId" | "secretKey">): string {
    const prefix = this.#prefixes.get(secretKey) ?? this.#current
    return `${intentId}_secret_${hash("sha512", `${prefix}/secret/${intentId}`).slice(0, nameDigits)}`
  }
}
