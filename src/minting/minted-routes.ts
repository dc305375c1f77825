import { Effect, Schema } from "effect"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { EmojiListItem } from "../../schema/directory/emoji-list-item.ts"
import { Conflict, fieldFault, NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import { MintedRequest } from "../../schema/minting/mint-signature.ts"
import { checkScope } from "../accounts/permissions.ts"
import { recordEvent } from "../accounts/security-log/security-log.ts"
import { idAbsent } from "../directory/edit-outcome.ts"
import { IdChanges } from "../directory/id-changes.ts"
import { toListItem } from "../directory/id-lists.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { route } from "../http/route.ts"
import { MintedIds, type MintedOutcome } from "./minted-store.ts"

const checkOutcome = (outcome: MintedOutcome) => {
  switch (outcome.outcome) {
    case "absent":
      return Effect.fail(idAbsent())
    case "in_transfer":
      return Effect.fail(
        new Conflict({ error: "This emoji id has an active transfer. Delete the transfer first." }),
      )
    case "other_token":
      return Effect.fail(
        fieldFault("token_id", "mismatch", `The token_id of this emoji id is ${outcome.token_id}.`),
      )
    case "changed":
    case "unchanged":
      return Effect.succeed(outcome)
  }
}

const setMinted = route({
  id: "setMinted",
  group: "tokens",
  summary:
    "Record that an emoji id was minted as a token, or that its token was destroyed (admins). A minted id can be transferred only by administrators, with `force_transfer`",
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
    const { canonical } = yield* checkEmojiId(params.emoji_id)
    if (!body.minted) yield* checkScope(principal, "nftToken:destroy")
    const set = (yield* MintedIds).set(canonical, body.minted, body.token_id ?? undefined)
    const outcome = yield* checkOutcome(yield* (yield* IdChanges).commit(canonical, set))
    if (outcome.outcome === "changed")
      yield* recordEvent({
        event: body.minted ? "mint.recorded" : "mint.removed",
        userId: outcome.owner_id,
        details: { emoji_id: canonical, token_id: outcome.token_id },
      })
    const [registered] = yield* (yield* EmojiIds).list({ canonical }, { limit: 1, offset: 0 })
    return registered === undefined ? yield* idAbsent() : toListItem(registered)
  }),
})

export const mintedIds = [setMinted] as const
