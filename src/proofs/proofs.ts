import { sign } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { BoundedMap } from "../../actors/bounded-map.ts"
import { Unavailable } from "../../schema/errors.ts"
import { proofType, type RegisteredClaims, type UnregisteredClaims } from "../../schema/proofs/claims.ts"
import type { ProofKeys } from "../../schema/proofs/key-document.ts"
import { AppConfig } from "../config/read-config.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { SigningKeys } from "./signing-keys.ts"

type Timed = "origin" | "iat" | "exp"

/** A signed proof: a compact JWS, and the Unix time in milliseconds after which a new one is signed, at half its life. */
export interface Proof {
  readonly jws: string
  readonly renewAtMs: number
}

/** The denials that are kept. A denial beyond them is signed again, which the rate limit of lookups restricts. */
const maxDenials = 4096

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Signs proofs of answers with the current signing key. */
export class Proofs extends Context.Service<
  Proofs,
  {
    sign(claims: Omit<RegisteredClaims, Timed>): Effect.Effect<Proof, Unavailable>
    /** Returns a proof that an id is not registered, signed now or at most half a life ago. */
    deny(canonical: string): Effect.Effect<string, Unavailable>
    /** The public keys and facts with which anybody can check the proofs. */
    readonly document: () => ProofKeys
    /** Calls the listener when proofs that were signed before must not be sent any more. */
    onRetired(listener: () => void): void
  }
>()("directory/Proofs") {
  static readonly layer = Layer.effect(
    Proofs,
    Effect.gen(function* () {
      const { baseUrl: origin, proofSeconds } = yield* AppConfig
      const clock = yield* DatabaseClock
      const keys = yield* SigningKeys
      const denials = new BoundedMap<Proof>(maxDenials)
      keys.onRetired(() => denials.clear())

      const signClaims = (claims: Omit<RegisteredClaims, Timed> | Omit<UnregisteredClaims, Timed>) =>
        Effect.suspend(() => {
          const nowMs = clock.now()
          const iat = Math.floor(nowMs / 1000)
          const key = keys.current(iat)
          if (key === undefined)
            return Effect.fail(
              new Unavailable({
                error:
                  "Proofs cannot be signed at the moment. Retry later, or send the request without `proof`.",
                retryAfterSeconds: 10,
              }),
            )
          const exp = Math.min(iat + proofSeconds, key.notAfter ?? Number.POSITIVE_INFINITY)
          const header = encode({ alg: "EdDSA", kid: key.kid, typ: proofType })
          const signed = `${header}.${encode({ origin, ...claims, iat, exp })}`
          const signature = sign(null, Buffer.from(signed), key.privateKey).toString("base64url")
          return Effect.succeed<Proof>({
            jws: `${signed}.${signature}`,
            renewAtMs: nowMs + (exp * 1000 - nowMs) / 2,
          })
        })

      return Proofs.of({
        sign: signClaims,
        deny: Effect.fnUntraced(function* (canonical) {
          const known = denials.get(canonical)
          if (known !== undefined && known.renewAtMs > clock.now()) return known.jws
          const proof = yield* signClaims({ emoji_id: canonical, registered: false, version: 0 })
          denials.set(canonical, proof)
          return proof.jws
        }),
        document: () => ({
          origin,
          proof_lifetime_seconds: proofSeconds,
          keys: keys.published(clock.now() / 1000),
          links: { api: `${origin}/openapi.json`, docs: `${origin}/docs` },
        }),
        onRetired: keys.onRetired,
      })
    }),
  )
}
