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
 * Creates and reads refresh tokens of the form `<session>.<generation>.<key id>.<mac>`. The mac is computed from the
 * session and the generation, with a key that is not in the database. Therefore the database stores only the
 * generation, concurrent refreshes return the same new token, and an old token can be distinguished from a forged one.
 */
export class RefreshTokens extends Context.Service<
  RefreshTokens,
  {
    readonly make: (facts: RefreshTokenFacts) => string
    /** Returns undefined if the token was not created with one of the service's keys. */
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
            // This compares the texts, not the decoded bytes. The last base64url character has unused bits, so
            // different texts may decode to the same bytes.
            return timingSafeEqual(Buffer.from(given), Buffer.from(mac(key, sessionId, generation)))
              ? { sessionId, generation }
              : undefined
          },
        })
      }),
    )
}
