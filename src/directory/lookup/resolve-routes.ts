import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../../schema/directory/check-emoji-id.ts"
import { type LookupResponse, ProofQuery } from "../../../schema/directory/lookup.ts"
import {
  AssetText,
  BatchResolveRequest,
  BatchResolveResponse,
  NetworkText,
  ResolveResponse,
} from "../../../schema/directory/resolve/response.ts"
import {
  NetworkRequired,
  NoAddress,
  NotFound,
  UnknownAsset,
  UnknownNetwork,
  UnsupportedEmoji,
} from "../../../schema/errors.ts"
import { authHeaders } from "../../http/guards.ts"
import { Reply } from "../../http/response/reply.ts"
import { route } from "../../http/route.ts"
import { etagOf, isHeld, lookupHeaders, notRegisteredText } from "./answer.ts"
import { admitCold } from "./cold-limit.ts"
import { checkRegistered, Lookups } from "./lookups.ts"
import { errorOf, requestOf, resolveBody, resolveMany, resolveOne } from "./resolve.ts"
import { aboutProof, replyFound, replySigned } from "./signed-lookup.ts"

const group = "lookup"

const one = route({
  id: "resolveEmojiID",
  group,
  summary: "Get the address to which a wallet sends an asset on a network",
  description:
    "Selects one address by fixed rules, checks that it belongs to the network, and returns it in the form that users paste. `rule` names the rule, and `warnings` contains reasons to ask the user, such as a new owner. If there is no address, the answer is 404 `no_address`; an asset on several networks without `network` is 400 `network_required`. Never send without the `memo` if there is one. [For wallets](/docs/for-wallets) has the rules, warnings, networks and assets." +
    aboutProof +
    " The errors `no_address`, `network_required`, `unknown_network` and `unknown_asset` have a proof as well, so that a wallet can check that there is really no address.",
  method: "get",
  path: "/emoji_id/:emoji_id/resolve",
  auth: "none",
  needsAddress: true,
  params: { emoji_id: Schema.String },
  query: { asset: AssetText, network: Schema.optionalKey(NetworkText), ...ProofQuery },
  headers: ["if-none-match", ...authHeaders],
  success: ResolveResponse,
  errors: [UnsupportedEmoji, NotFound, UnknownAsset, UnknownNetwork, NetworkRequired, NoAddress],
  prepared: Lookups.use(({ prepared }) => Effect.succeed(prepared.resolve)),
  handler: Effect.fnUntraced(function* ({ params, query, ...request }) {
    const { asset, network, proof } = query
    if (proof === "true") {
      const form = {
        request: requestOf(asset, network),
        name: `/resolve?${request.search}`,
        // An error of a registered id is an answer too: its proof says that there is no address.
        select: (whole: LookupResponse) => resolveBody(whole, asset, network),
      }
      return yield* replySigned(params.emoji_id, request, form, {
        found: (answer, proof) =>
          "code" in answer ? Effect.fail(errorOf({ ...answer, proof })) : replyFound(answer, proof),
        missing: (proof) => Effect.fail(new NotFound({ error: notRegisteredText, details: { proof } })),
      })
    }
    const id = yield* checkEmojiId(params.emoji_id)
    const lookup = yield* (yield* Lookups).view(id, admitCold(request))
    const whole = yield* checkRegistered(lookup)
    const { answer, isCacheable } = yield* resolveOne(whole, asset, network)
    // A warning about the owner ends with time and not with a new version, so such a response has no ETag.
    const headers = isCacheable ? { ETag: etagOf(lookup.own), ...lookupHeaders } : lookupHeaders
    return isCacheable && isHeld(lookup.own, request.headers["if-none-match"] ?? "")
      ? Reply.empty(304, headers)
      : Reply.raw(JSON.stringify(answer), headers)
  }),
})

const many = route({
  id: "resolveEmojiIDs",
  group,
  summary: "Get the addresses for up to 100 pairs of an emoji id and an asset",
  description:
    "The same as `GET /emoji_id/{emoji_id}/resolve` for many pairs. Each item has its own answer, and its own error.",
  method: "post",
  path: "/emoji_id/resolve",
  auth: "none",
  reads: true,
  limit: "read",
  headers: authHeaders,
  query: ProofQuery,
  body: BatchResolveRequest,
  success: BatchResolveResponse,
  errors: [],
  handler: ({ body, query, ...request }) =>
    Effect.map(resolveMany(body.items, query.proof === "true", admitCold(request)), (result) =>
      Reply.raw(JSON.stringify({ result }), lookupHeaders),
    ),
})

export const resolves = [one, many] as const
