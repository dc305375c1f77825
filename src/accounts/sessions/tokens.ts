import { webcrypto } from "node:crypto"
import { Clock, Context, Data, Effect, Layer, Result, Schema } from "effect"
import { errors, jwtVerify, SignJWT } from "jose"
import { type KeyRingInvalid, makeKeyRing, type NamedKey } from "../../crypto/key-ring.ts"
import { makeTokenCache } from "./token-cache.ts"

/**
 * The only accepted signature algorithm. A shared secret key is enough, because only processes of this service verify
 * these tokens, and they all sign tokens too. EdDSA would be slower (measured: 4,200 verifications per second, one
 * after the other; HS256 reaches 6,800) and would make each token longer.
 */
const algorithm = "HS256"
const clockToleranceSeconds = 5
const maxTokenLength = 2048

/** Each kind has its own type header, so that a token of one kind is never accepted as another kind. */
const kinds = {
  access: { typ: "at+jwt", audience: "api" },
  /**
   * Issued while a login waits for its two-factor code. It is accepted by two operations only: sending the code by
   * SMS, and disabling the second factor with a backup code.
   */
  pending: { typ: "pending+jwt", audience: "two-factor" },
  "oauth-access": { typ: "oauth-at+jwt", audience: "oauth-api" },
  "oauth-code": { typ: "oauth-code+jwt", audience: "token-endpoint" },
  "oauth-refresh": { typ: "oauth-rt+jwt", audience: "token-endpoint" },
  partner: { typ: "partner+jwt", audience: "partner-web" },
} as const
export type TokenKind = keyof typeof kinds
const accessKinds: ReadonlySet<TokenKind> = new Set(["access", "oauth-access"])

const Claims = Schema.Struct({
  sub: Schema.String,
  /** The id of the session. In the access and refresh tokens of OAuth clients, it is the id of the grant. */
  sid: Schema.String,
  /**
   * The user's token epoch when the token was signed. Ending all sessions, for example by a logout, increments the
   * epoch. This invalidates all earlier tokens.
   */
  ep: Schema.Int,
  role: Schema.String,
  jti: Schema.optionalKey(Schema.String),
  /**
   * Claims that only some kinds of tokens have, for example the client and the chosen id of an authorization code.
   */
  ext: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  iat: Schema.Int,
  exp: Schema.Int,
})
export type Claims = typeof Claims.Type
const decodeClaims = Schema.decodeUnknownResult(Claims)
const endingWithin = (claims: Claims, seconds: number): Claims =>
  claims.exp <= claims.iat + seconds ? claims : { ...claims, exp: claims.iat + seconds }

export class TokenInvalid extends Data.TaggedError("TokenInvalid")<{
  readonly reason:
    | "oversize"
    | "malformed"
    | "algorithm"
    | "key_unknown"
    | "signature"
    | "wrong_kind"
    | "wrong_issuer"
    | "expired"
}> {}

const reasonOf = (error: unknown): TokenInvalid["reason"] | undefined => {
  if (error instanceof errors.JWTExpired) return "expired"
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature"
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm"
  if (error instanceof errors.JWKSNoMatchingKey) return "key_unknown"
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "typ" || error.claim === "aud") return "wrong_kind"
    return error.claim === "iss" ? "wrong_issuer" : "malformed"
  }
  return error instanceof errors.JOSEError ? "malformed" : undefined
}

export interface TokenOptions {
  readonly keys: ReadonlyArray<NamedKey>
  readonly issuer: string
  /**
   * The configured lifetime of access tokens. An access token that was signed with a longer lifetime also expires
   * after this time, because the service remembers ended sessions only slightly longer than this time.
   */
  readonly accessSeconds?: number
  /** The maximum number of verified tokens that each process caches. */
  readonly cacheCapacity?: number
}

interface SignOptions {
  readonly kind: TokenKind
  readonly ttlSeconds: number
  /** When the token is issued, in seconds since 1970. The default is now. Signed again with it, a token is the same. */
  readonly issuedAt?: number | undefined
}

/**
 * Signs and verifies JWTs. `verify` and `verifyCached` do not check whether the session is still valid. The caller
 * must check this by `sid` and `ep` on every request.
 */
export class Tokens extends Context.Service<
  Tokens,
  {
    readonly sign: (claims: Omit<Claims, "iat" | "exp">, options: SignOptions) => Effect.Effect<string>
    readonly verify: (token: string, kind: TokenKind) => Effect.Effect<Claims, TokenInvalid>
    /**
     * Returns the claims of a token that this process has verified and cached, without waiting. Returns undefined if
     * the token is not cached, has another kind, or has expired.
     */
    readonly verifyCached: (token: string, kind: TokenKind) => Claims | undefined
  }
>()("services/Tokens") {
  static readonly layer = (options: TokenOptions): Layer.Layer<Tokens, KeyRingInvalid> =>
    Layer.effect(
      Tokens,
      Effect.gen(function* () {
        const { accessSeconds = Number.MAX_SAFE_INTEGER, issuer, cacheCapacity = 10_000 } = options
        const ring = yield* makeKeyRing(options.keys, "tokens")
        const hmac = { name: "HMAC", hash: "SHA-256" }
        // The keys are imported once, because jose would import raw bytes on every call. Also, the bytes of an
        // imported key cannot be read again.
        const imported = yield* Effect.promise(() =>
          Promise.all(
            Array.from(ring.all, async ([id, key]) => {
              const secret = key.export()
              return [
                id,
                await webcrypto.subtle.importKey("raw", secret, hmac, false, ["sign", "verify"]),
              ] as const
            }),
          ),
        )
        const keys = new Map(imported)
        const signingKey = keys.get(ring.currentId)!
        const clock = yield* Clock.Clock
        const cache = makeTokenCache<{ readonly kind: TokenKind; readonly claims: Claims }>(cacheCapacity)

        const findKey = (header: { readonly kid?: string }) => {
          const key = header.kid === undefined ? undefined : keys.get(header.kid)
          if (key === undefined) throw new errors.JWKSNoMatchingKey()
          return key
        }

        const verifyCached = (token: string, kind: TokenKind) => {
          const entry = cache.get(token)
          if (entry === undefined || entry.kind !== kind) return undefined
          if (entry.claims.exp * 1000 > clock.currentTimeMillisUnsafe()) return entry.claims
          cache.delete(token)
          return undefined
        }

        const verify = Effect.fnUntraced(function* (token: string, kind: TokenKind) {
          const remembered = verifyCached(token, kind)
          if (remembered !== undefined) return remembered
          if (token.length > maxTokenLength) return yield* new TokenInvalid({ reason: "oversize" })
          const { typ, audience } = kinds[kind]
          const nowMillis = clock.currentTimeMillisUnsafe()
          const { payload } = yield* Effect.tryPromise({
            try: () =>
              jwtVerify(token, findKey, {
                algorithms: [algorithm],
                issuer,
                audience,
                typ,
                clockTolerance: clockToleranceSeconds,
                currentDate: new Date(nowMillis),
              }),
            catch: (error) => error,
          }).pipe(
            Effect.catch((error) => {
              const reason = reasonOf(error)
              return reason === undefined ? Effect.die(error) : Effect.fail(new TokenInvalid({ reason }))
            }),
          )
          const read = decodeClaims(payload)
          if (Result.isFailure(read)) return yield* new TokenInvalid({ reason: "malformed" })
          const claims = accessKinds.has(kind) ? endingWithin(read.success, accessSeconds) : read.success
          if ((claims.exp + clockToleranceSeconds) * 1000 <= nowMillis)
            return yield* new TokenInvalid({ reason: "expired" })
          // A token that is valid only because of the clock tolerance is not cached, because the cache has no
          // tolerance.
          if (claims.exp * 1000 > nowMillis) cache.set(token, { kind, claims })
          return claims
        })

        const sign = (
          claims: Omit<Claims, "iat" | "exp">,
          { issuedAt = Math.floor(clock.currentTimeMillisUnsafe() / 1000), kind, ttlSeconds }: SignOptions,
        ) =>
          Effect.promise(async () => {
            const { typ, audience } = kinds[kind]
            const token = await new SignJWT({ ...claims })
              .setProtectedHeader({ alg: algorithm, typ, kid: ring.currentId })
              .setIssuer(issuer)
              .setAudience(audience)
              .setIssuedAt(issuedAt)
              .setExpirationTime(issuedAt + ttlSeconds)
              .sign(signingKey)
            if (token.length > maxTokenLength) throw new RangeError(`${kind} token is over ${maxTokenLength}`)
            return token
          })

        return Tokens.of({ sign, verify, verifyCached })
      }),
    )
}
