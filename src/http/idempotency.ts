import { createHash, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { CurrentOperation, type Operation } from "../../actors/operation.ts"
import {
  Conflict,
  InvalidRequest,
  type TooManyRequests,
  Unavailable,
  Unprocessable,
} from "../../schema/errors.ts"
import { FailPoints } from "../config/fail-points.ts"
import { Seal, SealBroken } from "../crypto/envelope-encryption.ts"
import { readStoredRows } from "../postgres/guarded-write.ts"
import { beforeEffect, CurrentRequestTime } from "../postgres/request-time.ts"
import type { RawRequest, RawResponse } from "./endpoint.ts"
import { type LeaseOutcome, makeIdempotencyStore } from "./idempotency-store.ts"
import { RateLimits } from "./limits/rate-limits.ts"
import type { Principal } from "./principal.ts"
import { addressGroup } from "./request/caller-address.ts"

const keyPattern = /^[\x21-\x7e]{1,255}$/
const keyForm = "expected 1 to 255 visible ASCII characters"
// The encryption limits the size of a text, so a longer response is encrypted in pieces of `pieceBytes`. Responses
// above `maxAnswerBytes` are not stored. The largest response of a write, a hundred lootboxes, is below that limit.
const pieceBytes = 48 * 1024
const maxAnswerBytes = 4 * 1024 * 1024
/** The size of a database row without the response, as it counts for the quota. */
const rowBytes = 512

const hashOf = (routeId: string, { body, method, path, query }: RawRequest): string =>
  createHash("sha256").update(`${routeId}\n${method}\n${path}\n${query}\n`).update(body).digest("hex")

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url")

/** Returns the refresh token in a JSON body, or undefined if there is none. */
const refreshTokenOf = (body: Uint8Array): string | undefined => {
  try {
    const { refresh_token } = JSON.parse(Buffer.from(body).toString()) as { readonly refresh_token?: unknown }
    return typeof refresh_token === "string" ? refresh_token : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the owner of an Idempotency-Key. Different callers may use the same key without a conflict. The kind of
 * authentication is a part of the owner, so that a limited token cannot replay a response of a full login.
 */
const callerOf = (principal: Principal | null, { address, body, headers }: RawRequest): string => {
  if (principal !== null) return `${principal.via}/${principal.userId}`
  // The owner is the refresh token and not the address: a phone that did not get its response may retry from another
  // network.
  const login = refreshTokenOf(body)
  if (login !== undefined) return `login/${digest(login)}`
  // The other callers without a principal are, for example, anonymous callers, logins that wait for a two-factor code,
  // OAuth clients and browser sessions. Their credentials and their address are the owner.
  const credentials = JSON.stringify([headers["authorization"] ?? "", headers["cookie"] ?? ""])
  return `address/${address}/${digest(credentials)}`
}

/**
 * Returns whose quota a stored response uses. For an anonymous caller it is the network address, because such a
 * caller can change its credentials for each request, but not its address.
 */
const quotaOwnerOf = (principal: Principal | null, { address }: RawRequest): string =>
  principal === null ? addressGroup(address) : principal.userId

const aboutTheCaller = new Set([401, 403, 424, 429])

/**
 * Whether the response is stored. After an error of the server, or an error that is about the caller's rights or
 * limits, the request may run again.
 */
const isFinal = ({ status }: RawResponse): boolean => status < 500 && !aboutTheCaller.has(status)

/**
 * Returns the error for a stored response that cannot be decrypted, for example because its master key was removed.
 * The request was executed, so it must not run again.
 */
const unreadable = (status: number) =>
  new Conflict({
    error: `This request was completed with status ${status}, but its stored response cannot be read any more.`,
    details: { answered_status: status },
  })

/**
 * The error for an attempt that would answer otherwise than its committed effect. For example, the result of its commit
 * was lost, it decided again, and refused. The retry makes the response from the outcome.
 */
const outcomeUnknown = new Unavailable({
  error:
    "The database lost its connection while it committed this request. Retry with the same Idempotency-Key.",
  retryAfterSeconds: 1,
})

/**
 * Makes the functions that run a request once for each Idempotency-Key. While a request runs, it holds a lease of its
 * key; if its process dies, the lease expires. The statement that commits the effect of the request also stores its
 * outcome (see actors/operation.ts), and fails if the lease was lost. After it, the response is stored encrypted for
 * `keySeconds`. If the process dies in between, a retry makes the response from the outcome.
 */
export const makeIdempotency = (leaseSeconds: number, keySeconds: number) =>
  Effect.gen(function* () {
    const keys = yield* makeIdempotencyStore
    const limits = yield* RateLimits
    const seal = yield* Seal
    const failPoints = yield* FailPoints
    const aad = (caller: string, key: string, kind: string, piece: number) =>
      `idempotency/${caller}/${key}/${kind}${piece}`

    const sealText = (caller: string, key: string, kind: string, text: string) => {
      const bytes = Buffer.from(text)
      const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
        bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
      )
      return Effect.map(
        Effect.forEach(pieces, (piece, i) => seal.seal(piece, aad(caller, key, kind, i))),
        (sealed) => sealed.join(" "),
      )
    }

    const openText = (caller: string, key: string, kind: string, text: string) =>
      Effect.map(
        Effect.forEach(text.split(" "), (piece, i) => seal.open(piece, aad(caller, key, kind, i))),
        (pieces) => Buffer.concat(pieces).toString(),
      )

    const pack = (caller: string, key: string, response: RawResponse) => {
      const body = Buffer.from(response.body ?? "").toString("base64")
      const text = JSON.stringify({ headers: response.headers ?? {}, body })
      return text.length > maxAnswerBytes ? Effect.succeed(undefined) : sealText(caller, key, "", text)
    }

    const unpack = Effect.fnUntraced(function* (
      caller: string,
      key: string,
      { answer, status }: LeaseOutcome,
    ) {
      const text = yield* openText(caller, key, "", answer)
      const { body, headers } = JSON.parse(text) as { headers: Record<string, string>; body: string }
      const response: RawResponse = {
        status,
        headers: { ...headers, "Idempotent-Replayed": "true" },
        body: Buffer.from(body, "base64"),
      }
      return response
    })

    /** Returns the outcome of an effect that an earlier attempt committed. */
    const unpackOutcome = Effect.fnUntraced(function* (
      caller: string,
      key: string,
      { kept, kept_rows }: LeaseOutcome,
    ) {
      const value: unknown =
        kept === null ? undefined : JSON.parse(yield* openText(caller, key, "outcome", kept))
      return { outcome: kept_rows === null ? value : { rows: readStoredRows(kept_rows), keep: value } }
    })

    /**
     * Stores the response of an attempt, or frees its key. Returns the response to send. It is another one if another
     * attempt has stored its response first, and undefined if an outcome was committed that this attempt does not know.
     */
    const store = Effect.fnUntraced(
      function* (operation: Operation, requestHash: string, response: RawResponse, quotaOwner: string) {
        const { caller, key } = operation
        const answer = isFinal(response) ? yield* pack(caller, key, response) : undefined
        if (answer === undefined) {
          const isCommitted = yield* keys.free(operation)
          return isCommitted && !operation.knowsOutcome ? undefined : response
        }
        yield* Effect.ignore(limits.keep(quotaOwner, answer.length + rowBytes))
        const { knowsOutcome } = operation
        if (yield* keys.keepAnswer(operation, { status: response.status, answer, knowsOutcome }))
          return response
        const row = yield* keys.find(caller, key, requestHash)
        if (row?.outcome === "repeat") return yield* unpack(caller, key, row)
        if (knowsOutcome) return response
        yield* keys.free(operation)
        return undefined
        // A late statement is discarded, but the key must be freed also by a request that was late.
      },
      Effect.provideService(CurrentRequestTime, undefined),
    )

    const operationOf = (
      caller: string,
      key: string,
      run: string,
      committed: Operation["committed"],
    ): Operation => ({
      caller,
      key,
      run,
      committed,
      knowsOutcome: committed !== undefined,
      seal: (value) => sealText(caller, key, "outcome", JSON.stringify(value)),
      afterCommit: failPoints.pass("request.after_commit"),
    })

    /** Reads what is stored for a key. A key that was removed from the key ring makes it unreadable. */
    const readable = <A, E>(routeId: string, status: number, read: Effect.Effect<A, E | SealBroken>) =>
      read.pipe(
        Effect.catchIf(
          (failure): failure is Extract<typeof failure, SealBroken> => failure instanceof SealBroken,
          ({ reason }) =>
            Effect.andThen(
              Effect.logWarning("stored idempotent response not readable", { routeId, reason }),
              Effect.fail(unreadable(status)),
            ),
        ),
      )

    const once = Effect.fnUntraced(function* (
      key: string,
      routeId: string,
      request: RawRequest,
      principal: Principal | null,
      perform: Effect.Effect<RawResponse>,
    ) {
      if (!keyPattern.test(key))
        return yield* new InvalidRequest({
          error: `Idempotency-Key: ${keyForm}.`,
          fields: { "Idempotency-Key": [{ code: "invalid", message: keyForm }] },
        })
      const caller = callerOf(principal, request)
      const newRun = randomUUID()
      const requestHash = hashOf(routeId, request)
      const row = yield* keys
        .lease({ caller, key, run: newRun }, { requestHash, leaseSeconds, keySeconds })
        .pipe(beforeEffect)
      if (row?.outcome === "repeat") return yield* readable(routeId, row.status, unpack(caller, key, row))
      if (row?.outcome === "other")
        return yield* new Unprocessable({
          error: "This Idempotency-Key was used for another request. Use a new key.",
          fields: { "Idempotency-Key": [{ code: "reused", message: "was used for another request" }] },
        })
      if (row?.outcome === "running")
        return yield* new Conflict({
          error: "The first request with this Idempotency-Key is still running. Retry later.",
          retryAfterSeconds: 1,
        })
      // An attempt that only finishes the request continues the one that committed its effect.
      const run = row?.outcome === "finish" ? row.kept_run : newRun
      const quotaOwner = quotaOwnerOf(principal, request)
      const committed =
        row?.outcome === "finish" ? yield* readable(routeId, 200, unpackOutcome(caller, key, row)) : undefined
      const operation = operationOf(caller, key, run, committed)
      const free = (refused: TooManyRequests) =>
        Effect.andThen(
          Effect.ignore(store(operation, requestHash, { status: 429 }, quotaOwner)),
          Effect.fail(refused),
        )
      // The quota is checked only here, before a first run, because a replayed response stores nothing.
      if (committed === undefined) yield* limits.keep(quotaOwner, 0).pipe(Effect.catch(free))
      // The response is stored even if the client disconnects, because the retry of the client needs it. If the
      // response cannot be stored, the request still succeeds, and a retry makes the response from the outcome.
      const response = yield* Effect.provideService(perform, CurrentOperation, operation)
      const stored = yield* store(operation, requestHash, response, quotaOwner).pipe(
        Effect.catch((cause) =>
          Effect.as(Effect.logWarning("idempotent response not stored", cause), response),
        ),
      )
      return stored ?? (yield* outcomeUnknown)
    }, Effect.uninterruptible)

    /**
     * Answers the retry of a request that ended the credentials or the permission of its caller, for example a logout.
     * Returns undefined if this caller did not complete this request with this key.
     */
    const repeat = Effect.fnUntraced(function* (
      key: string,
      routeId: string,
      request: RawRequest,
      principal: Principal,
      perform: Effect.Effect<RawResponse>,
    ) {
      const caller = callerOf(principal, request)
      const row = keyPattern.test(key) ? yield* keys.find(caller, key, hashOf(routeId, request)) : undefined
      if (row === undefined) return undefined
      if (row.outcome === "repeat") return yield* readable(routeId, row.status, unpack(caller, key, row))
      const committed = yield* readable(routeId, 200, unpackOutcome(caller, key, row))
      return yield* Effect.provideService(
        perform,
        CurrentOperation,
        operationOf(caller, key, row.kept_run, committed),
      )
    }, Effect.uninterruptible)

    return { once, repeat }
  })
