import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { checkEmojiId } from "../../schema/directory/check-emoji-id.ts"
import { Conflict, NotFound, TwoFactorRequired, UnsupportedEmoji } from "../../schema/errors.ts"
import { SignatureRequest, SignatureResponse, TokenMetadata } from "../../schema/minting/mint-signature.ts"
import { IntText } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { Minting } from "./minting.ts"
import { getTokenMetadata } from "./token-metadata.ts"

const group = "tokens"

const generateSignature = route({
  id: "generateSignature",
  group,
  summary: "Generate a signature with which an account can mint your emoji id",
  description:
    "Signs the id, the Ethereum account and the expiry for the operator's contract. Only the owner can request it, and gets a mail about each signature. An id that is minted, in a transfer, or was transferred in the last 24 hours is 409.",
  method: "post",
  path: "/emoji_id/:emoji_id/generate_signature",
  auth: "two_factor",
  scope: "nftSignature:write",
  access: { own: true },
  sensitive: true,
  // Each signature sends a mail.
  limit: "mail",
  params: { emoji_id: Schema.String },
  body: SignatureRequest,
  success: SignatureResponse,
  errors: [UnsupportedEmoji, NotFound, Conflict, TwoFactorRequired],
  handler: ({ body, params, principal }) =>
    Effect.flatMap(checkEmojiId(params.emoji_id), (id) =>
      Minting.use((minting) =>
        atMostOnce(minting.permit(id, principal.userId, body)).pipe(
          Effect.flatMap((permitted) => minting.permitted(id, principal.userId, permitted)),
        ),
      ),
    ),
})

const metadata = route({
  id: "metadata",
  group,
  summary: "Get the token metadata of an emoji id",
  description: "The JSON that wallets and marketplaces read for a token: name, image and attributes.",
  method: "get",
  path: "/nft_transfers/metadata/:token_id",
  auth: "none",
  limit: "read",
  params: { token_id: IntText(1, Number.MAX_SAFE_INTEGER) },
  success: TokenMetadata,
  errors: [NotFound],
  handler: ({ params }) => getTokenMetadata(Number(params.token_id)),
})

export const tokens = [generateSignature, metadata] as const
