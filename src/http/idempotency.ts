import { createHash, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { Conflict, InvalidRequest, type TooManyRequests, Unprocessable } from "../../schema/errors.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { keySeconds } from "../turns/operation-key.ts"
import type { RawRequest, RawResponse } from "./endpoint.ts"
import { type LeaseOutcome, makeIdempotencyStore } from "./idempotency-store.ts"
import { RateLimits } from "./limits/rate-limits.ts"
import type { Principal } from "./principal.ts"
import { addressGroup } from "./request/caller-address.ts"

const keyPattern = /^[\x21-\x7e]{1,255}$/
// A seal holds a limited text; longer answers are sealed in pieces. No write answers more than this: a hundred boxes.
const pieceBytes = 48 * 1024
const maxAnswerBytes = 4 * 1024 * 1024
/** What a row takes besides its answer. */
const rowBytes = 512

const hashOf = (routeId: string, { body, method, path, query }: RawRequest): string =>
  createHash("sha256").update(`${routeId}\n${method}\n${path}\n${query}\n`).update(body).digest("hex")

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url")

/** The refresh token of a body that shows one. */
const loginIn = (body: Uint8Array): string | undefined => {
  try {
    const { refresh_token } = JSON.parse(Buffer.from(body).toString()) as { readonly refresh_token?: unknown }
    return typeof refresh_token === "string" ? refresh_token : undefined
  } catch {
    return undefined
  }
}

/** Who sent the key: two callers may use the same one. A limited token never repeats what another kind of login got. */
const callerOf = (principal: Principal | null, { address, body, headers }: RawRequest): string => {
  if (principal !== null) return `${principal.via}/${principal.userId}`
  // Known by its login wherever it calls from: a phone that lost an answer is often in another network by then.
  const login = loginIn(body)
  if (login !== undefined) return `login/${digest(login)}`
  // A login that waits for its code, an application's secret and a browser's login make nobody a principal.
  const shown = JSON.stringify([headers["authorization"] ?? "", headers["cookie"] ?? ""])
  return `address/${address}/${digest(shown)}`
}

/** Whose room an answer takes. Who shows no login may seem to be somebody else each time, but not to be elsewhere. */
const keeperOf = (principal: Principal | null, { address }: RawRequest): string =>
  principal === null ? addressGroup(address) : principal.userId

const aboutTheCaller = new Set([401, 403, 424, 429])

/** Answers that say nothing about the request itself: after them it may be sent again as if it never was. */
const isFinal = ({ status }: RawResponse): boolean => status < 500 && !aboutTheCaller.has(status)

/** The key it was sealed by was given up. It was done all the same, and is not done again. */
const unreadable = (status: number) =>
  new Conflict({
    error: `This request was answered before, with status ${status}; the answer can no longer be read.`,
    details: { answered_status: status },
  })

/** One run per Idempotency-Key. The answer is kept sealed for a day; a run that died frees its key with its lease. */
export const makeIdempotency = (leaseSeconds: number) =>
  Effect.gen(function* () {
    const keys = yield* makeIdempotencyStore
    const limits = yield* RateLimits
    const seal = yield* Seal
    const aad = (caller: string, key: string, piece: number) => `idempotency/${caller}/${key}/${piece}`

    const pack = Effect.fnUntraced(function* (caller: string, key: string, response: RawResponse) {
      const body = Buffer.from(response.body ?? "")
      const text = Buffer.from(
        JSON.stringify({ headers: response.headers ?? {}, body: body.toString("base64") }),
      )
      if (text.length > maxAnswerBytes) return undefined
      const pieces = Array.from({ length: Math.ceil(text.length / pieceBytes) }, (_, i) =>
        text.subarray(i * pieceBytes, (i + 1) * pieceBytes),
      )
      return (yield* Effect.forEach(pieces, (piece, i) => seal.seal(piece, aad(caller, key, i)))).join(" ")
    })

    const unpack = Effect.fnUntraced(function* (
      caller: string,
      key: string,
      { answer, status }: LeaseOutcome,
    ) {
      const pieces = yield* Effect.forEach(answer.split(" "), (piece, i) =>
        seal.open(piece, aad(caller, key, i)),
      )
      const { body, headers } = JSON.parse(Buffer.concat(pieces).toString()) as {
        headers: Record<string, string>
        body: string
      }
      const response: RawResponse = {
        status,
        headers: { ...headers, "Idempotent-Replayed": "true" },
        body: Buffer.from(body, "base64"),
      }
      return response
    })

    const keep = Effect.fnUntraced(function* (
      caller: string,
      key: string,
      run: string,
      response: RawResponse,
      keeper: string,
    ) {
      const answer = isFinal(response) ? yield* pack(caller, key, response) : undefined
      if (answer !== undefined) yield* Effect.ignore(limits.keep(keeper, answer.length + rowBytes))
      yield* answer === undefined
        ? keys.free({ caller, key, run })
        : keys.keepAnswer({ caller, key, run }, response.status, answer)
    })

    return Effect.fnUntraced(function* (
      key: string,
      routeId: string,
      request: RawRequest,
      principal: Principal | null,
      perform: Effect.Effect<RawResponse>,
    ) {
      if (!keyPattern.test(key))
        return yield* new InvalidRequest({ error: "Idempotency-Key: expected 1 to 255 visible characters." })
      const caller = callerOf(principal, request)
      const run = randomUUID()
      const requestHash = hashOf(routeId, request)
      const row = yield* keys.lease({ caller, key, run }, { requestHash, leaseSeconds, keySeconds })
      if (row?.outcome === "repeat")
        return yield* unpack(caller, key, row).pipe(
          Effect.catchTag("SealBroken", ({ reason }) =>
            Effect.andThen(
              Effect.logWarning("idempotent answer unreadable", { routeId, reason }),
              Effect.fail(unreadable(row.status)),
            ),
          ),
        )
      if (row?.outcome === "other")
        return yield* new Unprocessable({
          error: "This Idempotency-Key was used with another request.",
          fields: { "Idempotency-Key": [{ code: "reused", message: "belongs to another request" }] },
        })
      if (row?.outcome === "running")
        return yield* new Conflict({
          error: "The first request with this key is still running.",
          retryAfterSeconds: 1,
        })
      const keeper = keeperOf(principal, request)
      const free = (refused: TooManyRequests) =>
        Effect.andThen(Effect.ignore(keep(caller, key, run, { status: 429 }, keeper)), Effect.fail(refused))
      // Only what would be done for the first time: an answer that is kept costs nothing more.
      yield* limits.keep(keeper, 0).pipe(Effect.catch(free))
      // The client may leave, the answer is kept all the same: it is what the next attempt gets. Failing to keep it is
      // no failure of the request; the lease then frees the key.
      const response = yield* perform
      yield* keep(caller, key, run, response, keeper).pipe(
        Effect.catch((cause) => Effect.logWarning("idempotent answer not kept", cause)),
      )
      return response
    }, Effect.uninterruptible)
  })
