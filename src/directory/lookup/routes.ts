import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../../schema/directory/check-emoji-id.ts"
import {
  BatchLookupRequest,
  BatchLookupResponse,
  Confirmation,
  LookupResponse,
  PaymentAddressResponse,
  ProofQuery,
  TickerResponse,
} from "../../../schema/directory/lookup.ts"
import { InvalidRequest, NotFound, UnsupportedEmoji } from "../../../schema/errors.ts"
import { CommaList } from "../../../schema/wire-format.ts"
import { authHeaders } from "../../http/guards.ts"
import { RateLimits } from "../../http/limits/rate-limits.ts"
import { Reply } from "../../http/response/reply.ts"
import { route } from "../../http/route.ts"
import { isRegistered, type LookupAnswer, lookupHeaders, rawResponse } from "./answer.ts"
import { lookupMany } from "./batch.ts"
import { admitCold, mayReadCold } from "./cold-limit.ts"
import { isConfirmed } from "./confirm-record.ts"
import { checkRegistered, Lookups } from "./lookups.ts"
import { paymentForm, selectByTags, selectByTicker, wholeWithProof } from "./select-records.ts"
import { aboutProof, replySigned } from "./signed-lookup.ts"

const group = "lookup"
const params = { emoji_id: Schema.String }
const filter = {
  tags: Schema.optionalKey(CommaList).annotateKey({
    description: "Only records with these tags, separated by commas, for example 0x1003,0x1004.",
  }),
  ...ProofQuery,
}
const headers = ["if-none-match", ...authHeaders]
const badTags = new InvalidRequest({
  error: "query: tags: expected comma-separated hex tags such as 0x1003",
})
const badTicker = new InvalidRequest({
  error: "path: tag: expected a ticker such as BTC, or a hex tag such as 0x1003",
})

/** `selected` is the part of the answer that the request selects, if it does not want all of it. */
const reply = (lookup: LookupAnswer, ifNoneMatch = "", selected?: unknown): Reply<never> => {
  const wanted = selected === undefined ? lookup : { ...lookup, body: JSON.stringify(selected) }
  const { body, headers, status } = rawResponse(wanted, ifNoneMatch)
  return Reply.raw(body, headers, status)
}

const selectedOr = <A>(problem: InvalidRequest, selected: A | undefined): Effect.Effect<A, InvalidRequest> =>
  selected === undefined ? Effect.fail(problem) : Effect.succeed(selected)

const replySelected = Effect.fnUntraced(function* (
  lookup: LookupAnswer,
  ifNoneMatch: string | undefined,
  tags: string,
) {
  const selected = selectByTags(yield* checkRegistered(lookup), tags)
  return selected === undefined ? yield* badTags : reply(lookup, ifNoneMatch, selected)
})

const lookup = route({
  id: "lookupEmojiID",
  group,
  summary: "Look up the records of an emoji id, optionally filtered by tags",
  description:
    "Returns all records, or with `tags` only those of these categories. A cached answer needs no query, and it is never older than an acknowledged change. Send the `ETag` as `If-None-Match` to get 304 while nothing has changed. 404 means that the id is valid but not registered. [Records](/docs/records) lists all tags and the forms of the data." +
    aboutProof,
  method: "get",
  path: "/emoji_id/:emoji_id",
  auth: "none",
  errorBody: "lookup",
  needsAddress: true,
  params,
  query: filter,
  headers,
  success: LookupResponse,
  errors: [UnsupportedEmoji, NotFound],
  prepared: Lookups.use(({ prepared }) => Effect.succeed(prepared.lookup)),
  direct: Effect.gen(function* () {
    const limits = yield* RateLimits
    return (yield* Lookups).direct((request) => mayReadCold(limits, request))
  }),
  handler: ({ query: { proof, tags }, ...request }) => {
    if (proof === "true") {
      return replySigned(request.params.emoji_id, request, {
        request: tags === undefined ? ["lookup"] : ["lookup", tags],
        name: request.search === wholeWithProof ? "" : `?${request.search}`,
        select: (whole) => selectedOr(badTags, selectByTags(whole, tags)),
      })
    }
    return Effect.flatMapEager(checkEmojiId(request.params.emoji_id), (id) =>
      Lookups.use((lookups) =>
        Effect.flatMap(lookups.view(id, admitCold(request)), (lookup) => {
          const held = request.headers["if-none-match"]
          return tags === undefined || !isRegistered(lookup)
            ? Effect.succeed(reply(lookup, held))
            : replySelected(lookup, held, tags)
        }),
      ),
    )
  },
})

const ticker = route({
  id: "lookupEmojiIdTicker",
  group,
  summary: "Look up the records of an emoji id for one ticker",
  description:
    "`tag` is a ticker such as BTC, or a hex tag such as 0x1003. Returns only the records of this category, as they are stored. To send an asset, use `resolve`." +
    aboutProof,
  method: "get",
  path: "/emoji_id/:emoji_id/:tag",
  auth: "none",
  errorBody: "lookup",
  needsAddress: true,
  params: { ...params, tag: Schema.String },
  query: ProofQuery,
  headers,
  success: TickerResponse,
  errors: [UnsupportedEmoji, NotFound],
  prepared: Lookups.use(({ prepared }) => Effect.succeed(prepared.ticker)),
  handler: Effect.fnUntraced(function* ({ params, query, ...request }) {
    if (query.proof === "true") {
      return yield* replySigned(params.emoji_id, request, {
        request: ["ticker", params.tag],
        name: `/${encodeURIComponent(params.tag)}?${request.search}`,
        select: (whole) => selectedOr(badTicker, selectByTicker(whole, params.tag)),
      })
    }
    const id = yield* checkEmojiId(params.emoji_id)
    const lookup = yield* (yield* Lookups).view(id, admitCold(request))
    if (!isRegistered(lookup)) return reply(lookup)
    const selected = selectByTicker(yield* checkRegistered(lookup), params.tag)
    return selected === undefined
      ? yield* badTicker
      : reply(lookup, request.headers["if-none-match"], selected)
  }),
})

const payment = route({
  id: "lookupEmojiIDPayment",
  group,
  summary: "Look up one payment address per category",
  description:
    "Returns for each category the newest default record, or the newest record if none is a default. To send an asset on a known network, use `GET /emoji_id/{emoji_id}/resolve` instead: it never returns an address of another network. [For wallets](/docs/for-wallets) explains which address to use, and [Records](/docs/records#default) what a default record is." +
    aboutProof,
  method: "get",
  path: "/emoji_id/:emoji_id/payment",
  auth: "none",
  errorBody: "lookup",
  needsAddress: true,
  params,
  query: filter,
  headers,
  success: PaymentAddressResponse,
  errors: [UnsupportedEmoji, NotFound],
  prepared: Lookups.use(({ prepared }) => Effect.succeed(prepared.payment)),
  handler: Effect.fnUntraced(function* ({ params, query, ...request }) {
    const { proof, tags } = query
    if (proof === "true") {
      return yield* replySigned(params.emoji_id, request, {
        request: tags === undefined ? ["payment"] : ["payment", tags],
        name: `/payment?${request.search}`,
        select: (whole) => Effect.map(selectedOr(badTags, selectByTags(whole, tags)), paymentForm),
      })
    }
    const id = yield* checkEmojiId(params.emoji_id)
    const lookup = yield* (yield* Lookups).view(id, admitCold(request))
    if (!isRegistered(lookup)) return reply(lookup)
    const selected = selectByTags(yield* checkRegistered(lookup), tags)
    return selected === undefined
      ? yield* badTags
      : reply(lookup, request.headers["if-none-match"], paymentForm(selected))
  }),
})

const confirm = route({
  id: "confirmRecord",
  group,
  summary: "Check whether an emoji id still has this address or data",
  description:
    "Checks a stored address again before a payment. `result` is true if the id has a record of this category with this data now.",
  method: "get",
  path: "/emoji_id/:emoji_id/confirm",
  auth: "none",
  errorBody: "lookup",
  needsAddress: true,
  params,
  headers: authHeaders,
  query: { tag: Schema.String, data: Schema.String.check(Schema.isMaxLength(4096)) },
  success: Confirmation,
  errors: [UnsupportedEmoji, NotFound],
  handler: Effect.fnUntraced(function* ({ params, query, ...request }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const lookup = yield* (yield* Lookups).find(id, admitCold(request))
    const { result, version } = yield* checkRegistered(lookup)
    const confirmed = isConfirmed(id, result, query.tag, query.data)
    if (confirmed === undefined) {
      return yield* new InvalidRequest({
        error: "query: tag: expected a ticker such as BTC, or a hex tag such as 0x1003",
      })
    }
    return Reply.json({ result: confirmed, version }, { headers: { "Cache-Control": "no-store" } })
  }),
})

const batch = route({
  id: "lookupEmojiIDs",
  group,
  summary: "Look up a list of up to 100 emoji ids",
  description:
    "Returns one answer per id, in the order of the request. An invalid or unregistered id has an error in its own answer and does not fail the request.",
  method: "post",
  path: "/emoji_id/lookup",
  auth: "none",
  reads: true,
  work: "batch",
  limit: "read",
  headers: authHeaders,
  query: ProofQuery,
  body: BatchLookupRequest,
  success: BatchLookupResponse,
  errors: [],
  handler: ({ body: { emoji_ids }, query, ...request }) =>
    Lookups.use((lookups) => {
      const isSigned = query.proof === "true"
      const cached = isSigned ? undefined : lookups.cachedBatch(emoji_ids)
      return cached === undefined
        ? Effect.map(lookupMany(emoji_ids, isSigned, admitCold(request)), (answers) =>
            Reply.raw(`{"result":[${answers.join(",")}]}`, lookupHeaders),
          )
        : Effect.succeed(Reply.raw(cached, lookupHeaders))
    }),
})

export const lookups = [lookup, payment, confirm, ticker, batch] as const
