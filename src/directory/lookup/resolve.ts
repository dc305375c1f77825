import { Effect } from "effect"
import { type EmojiId, parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import {
  type BatchResolveAnswer,
  isRecentChange,
  type ResolveItem,
  type ResolveResponse,
} from "../../../schema/directory/resolve/response.ts"
import { NetworkRequired, NoAddress, UnknownAsset, UnknownNetwork } from "../../../schema/errors.ts"
import type { ProvenRequest } from "../../../schema/proofs/claims.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import { isRegistered, type LookupAnswer, notRegisteredText, readAnswer } from "./answer.ts"
import { Lookups } from "./lookups.ts"
import { makeResolve, type Refusal } from "./resolve-records.ts"
import { httpSubject, retryChanged, SignedAnswers } from "./signed-answers.ts"

const errors = {
  unknown_asset: UnknownAsset,
  unknown_network: UnknownNetwork,
  network_required: NetworkRequired,
  no_address: NoAddress,
}

/** The body of an API error, without the id of the request. */
interface ErrorBody {
  readonly error: string
  readonly code: keyof typeof errors
  readonly [member: string]: unknown
}

const errorBody = ({ refused, version, warnings }: Refusal): ErrorBody => {
  const { code, message, networks } = refused
  const details = code === "no_address" ? { warnings, version } : networks.length === 0 ? {} : { networks }
  return { error: message, code, ...details }
}

/** Makes the API error with this body. */
export const errorOf = ({ code, error, ...details }: ErrorBody) => new errors[code]({ error, details })

/** Resolves an asset of a registered id. Returns the body of an API error if there is no address. */
export const resolveBody = (
  whole: LookupResponse,
  asset: string,
  network: string | undefined,
): Effect.Effect<ResolveResponse | ErrorBody, never, DatabaseClock> =>
  DatabaseClock.use((clock) =>
    Effect.sync(() => {
      const answer = makeResolve(whole, clock.now())(asset, network)
      return "refused" in answer ? errorBody(answer) : answer
    }),
  )

/** Resolves an asset of a registered id. Fails with an API error if there is no address. */
export const resolveOne = Effect.fnUntraced(function* (
  whole: LookupResponse,
  asset: string,
  network: string | undefined,
) {
  const answer = yield* resolveBody(whole, asset, network)
  if ("code" in answer) return yield* errorOf(answer)
  const nowMs = (yield* DatabaseClock).now()
  return { answer, isCacheable: !isRecentChange(whole.owner_changed_at, nowMs) }
})

const refusal = (
  emoji_id: string,
  code: string,
  reason: string,
  more?: Partial<BatchResolveAnswer>,
): BatchResolveAnswer => ({
  emoji_id,
  status: false,
  warnings: [],
  ...more,
  error: { code, reason },
})

/** The claim `request` of a proof. */
export const requestOf = (asset: string, network: string | null | undefined): ProvenRequest =>
  network == null ? ["resolve", asset] : ["resolve", asset, network]

/** The number of ids that are looked up together in one step. See `lookupMany`. */
const idsPerStep = 20

interface Found {
  readonly lookup: LookupAnswer
  readonly whole: LookupResponse | undefined
  readonly resolveAsset: ReturnType<typeof makeResolve> | undefined
}

const readFound = (lookup: LookupAnswer, nowMs: number): Found => {
  const whole = isRegistered(lookup) ? readAnswer(lookup) : undefined
  return { lookup, whole, resolveAsset: whole && makeResolve(whole, nowMs) }
}

const answerOf = (item: ResolveItem, { resolveAsset }: Found): BatchResolveAnswer => {
  if (resolveAsset === undefined) return refusal(item.emoji_id, "not_registered", notRegisteredText)
  const answer = resolveAsset(item.asset, item.network)
  if (!("refused" in answer)) return { emoji_id: item.emoji_id, ...answer }
  const { refused, version, warnings } = answer
  const { code, message, networks } = refused
  const listed = code === "no_address" || networks.length === 0 ? {} : { networks }
  return refusal(item.emoji_id, code, message, { warnings, version, ...listed })
}

/** Adds the proof to the answer for one item. */
const withProof = Effect.fnUntraced(function* <E, R>(
  { canonical }: EmojiId,
  { asset, network }: ResolveItem,
  { lookup, whole }: Found,
  answer: BatchResolveAnswer,
  admit: Effect.Effect<void, E, R>,
) {
  const signed = yield* SignedAnswers
  if (whole === undefined) return { ...answer, proof: yield* signed.deny(canonical, admit) }
  const request = requestOf(asset, network)
  const name = `/resolve${JSON.stringify(request)}`
  const subject = httpSubject(canonical, lookup, whole, { request, name, answer })
  return { ...answer, proof: yield* signed.prove(subject, admit) }
})

/**
 * Returns one answer per item, in the order of the request. An id that is listed several times is looked up once per
 * step. `admit` runs for each id that is not in the cache, and for each proof that must be signed.
 */
export const resolveMany = Effect.fnUntraced(function* <E, R>(
  items: ReadonlyArray<ResolveItem>,
  isSigned: boolean,
  admit: Effect.Effect<void, E, R>,
) {
  const lookups = yield* Lookups
  const clock = yield* DatabaseClock
  const answers: Array<BatchResolveAnswer> = []

  for (let from = 0; from < items.length; from += idsPerStep) {
    const step = items
      .slice(from, from + idsPerStep)
      .map((item) => ({ item, id: parseEmojiId(item.emoji_id) }))
    const ids = new Map(
      step.flatMap(({ id }) => (id._tag === "EmojiId" ? [[id.canonical, id] as const] : [])),
    )
    const found = yield* Effect.forEach([...ids.values()], (id) => lookups.view(id, admit), {
      concurrency: "unbounded",
    })
    const byCanonical = new Map<string, Found>()
    for (const [at, canonical] of [...ids.keys()].entries()) {
      byCanonical.set(canonical, readFound(found[at]!, clock.now()))
      // One id can have a megabyte of records, so other requests get a turn after each id.
      yield* Effect.yieldNow
    }
    for (const { id, item } of step) {
      if (id._tag === "EmojiIdRefused") {
        answers.push(refusal(item.emoji_id, id.code, id.message))
        continue
      }
      const known = byCanonical.get(id.canonical)!
      const answer = answerOf(item, known)
      answers.push(isSigned ? yield* withProof(id, item, known, answer, admit) : answer)
    }
  }
  return answers
}, retryChanged)
