import { hash } from "node:crypto"
import type { Intent } from "../../../machines/orders/context.ts"
import type { KeyRing } from "../../crypto/key-ring.ts"

const nameDigits = 32

/**
 * What the sandbox calls things: names nobody can foresee without the key, always the same for the same key and text. Each
 * is a part of one digest over both, never all of it, so no name can be worked on to get another. An HMAC would take three
 * times as long, twice in every purchase.
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

  /** The client secret of an intent, which is kept nowhere. */
  secretOf({ intentId, secretKey = "" }: Pick<Intent, "intentId" | "secretKey">): string {
    const prefix = this.#prefixes.get(secretKey) ?? this.#current
    return `${intentId}_secret_${hash("sha512", `${prefix}/secret/${intentId}`).slice(0, nameDigits)}`
  }
}
