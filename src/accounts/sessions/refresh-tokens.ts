import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { type KeyRingInvalid, makeKeyRing, type NamedKey } from "../../crypto/key-ring.ts"

const pattern =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.([1-9]\d{0,8})\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{43})$/

export interface RefreshTokenFacts {
  readonly sessionId: string
  readonly generation: number
}

const mac = (key: KeyObject, sessionId: string, generation: number) =>
  createHmac("sha256", key)
    .update(JSON.stringify([sessionId, generation]))
    .digest("base64url")

/**
 * `<session>.<generation>.<key id>.<mac>`. The mac follows from the other parts and a key outside the database, so
 * the database holds nothing of the token but its number, callers that refresh at the same moment are given the same
 * successor, and a token that was replaced long ago is told from one that was made up.
 */
export class RefreshTokens extends Context.Service<
  RefreshTokens,
  {
    readonly make: (facts: RefreshTokenFacts) => string
    /** Undefined for anything this service did not make. */
    readonly read: (token: string) => RefreshTokenFacts | undefined
  }
>()("services/RefreshTokens") {
  static readonly layer = (options: {
    readonly keys: ReadonlyArray<NamedKey>
  }): Layer.Layer<RefreshTokens, KeyRingInvalid> =>
    Layer.effect(
      RefreshTokens,
      Effect.gen(function* () {
        const ring = yield* makeKeyRing(options.keys, "refresh-tokens")
        return RefreshTokens.of({
          make: ({ generation, sessionId }) =>
            [sessionId, generation, ring.currentId, mac(ring.current, sessionId, generation)].join("."),
          read: (token) => {
            const [, sessionId = "", number = "", keyId = "", given = ""] = pattern.exec(token) ?? []
            const key = ring.all.get(keyId)
            if (key === undefined) return undefined
            const generation = Number(number)
            // The text is compared, not its bytes: the last symbol has spare bits, and a token has one spelling.
            return timingSafeEqual(Buffer.from(given), Buffer.from(mac(key, sessionId, generation)))
              ? { sessionId, generation }
              : undefined
          },
        })
      }),
    )
}
