import { Effect, Schema } from "effect"
import { atMostOnce, unchanged, type Written } from "../../actors/operation.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { EmojiListItem } from "../../schema/directory/emoji-list-item.ts"
import {
  Conflict,
  fieldFault,
  NotFound,
  type Unavailable,
  Unprocessable,
  UnsupportedEmoji,
} from "../../schema/errors.ts"
import { MintedRequest } from "../../schema/minting/mint-signature.ts"
import { checkScope } from "../accounts/permissions.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { idAbsent } from "../directory/edit-outcome.ts"
import { IdChanges } from "../directory/id-changes.ts"
import { toListItem } from "../directory/id-lists.ts"
import type { IdResult } from "../directory/id-store.ts"
import { route } from "../http/route.ts"
import { MintedIds, type SetMinted } from "./minted-store.ts"

const set = Effect.fnUntraced(function* (
  canonical: string,
  minted: boolean,
  tokenId: number | undefined,
): Effect.fn.Return<
  Written<IdResult<SetMinted>>,
  Conflict | NotFound | Unavailable | Unprocessable,
  IdChanges | MintedIds
> {
  const statement = (yield* MintedIds).set(canonical, minted, tokenId)
  const set = yield* (yield* IdChanges).commit(canonical, statement)
  switch (set.outcome) {
    case "changed":
      return set.written
    case "unchanged":
      return unchanged({ rows: [{ result: set }], keep: undefined })
    case "absent":
      return yield* idAbsent()
    case "in_transfer":
      return yield* new Conflict({
        error: "This emoji id has an active transfer. Delete the transfer first.",
      })
    case "other_token":
      return yield* fieldFault("token_id", "mismatch", `The token_id of this emoji id is ${set.token_id}.`)
  }
})

const setMinted = route({
  id: "setMinted",
  group: "tokens",
  summary: "Record that an emoji id was minted, or that its token was destroyed",
  description:
    "For administrators, because the service does not follow the contract. A minted id can be transferred only by administrators with `force_transfer`. An id with an active transfer is 409; a wrong `token_id` is 422.",
  method: "put",
  path: "/emoji_id/:emoji_id/minted",
  auth: "apiKey",
  scope: "adminEmoji:updateSecureData",
  scopesInCases: { "nftToken:destroy": "`minted: false`" },
  limit: "write",
  params: { emoji_id: Schema.String },
  body: MintedRequest,
  success: EmojiListItem,
  errors: [UnsupportedEmoji, NotFound, Conflict, Unprocessable],
  handler: Effect.fnUntraced(function* ({ body, params, principal }) {
    const id = yield* checkEmojiId(params.emoji_id)
    const { canonical } = id
    if (!body.minted) yield* checkScope(principal, "nftToken:destroy")
    const { rows } = yield* atMostOnce(set(canonical, body.minted, body.token_id ?? undefined))
    const { result } = rows[0]!
    if (result.outcome === "changed")
      yield* recordEvent({
        event: body.minted ? "mint.recorded" : "mint.removed",
        userId: result.owner_id,
        details: { emoji_id: canonical, token_id: result.token_id },
      })
    return toListItem({ ...result.listed, id })
  }),
})

export const mintedIds = [setMinted] as const
