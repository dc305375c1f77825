import { Context, Effect, Layer } from "effect"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, InvalidRequest, type NotFound, type Unavailable } from "../../schema/errors.ts"
import { idAbsent } from "../directory/edit-outcome.ts"
import { stillMintable } from "../directory/mint-conflict.ts"
import { checkEthAddress, type EthAddressInvalid } from "../keys/eth-address.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { type MintOutcome, MintPermissions } from "./mint-permission-store.ts"
import { MintSignatures } from "./mint-signatures.ts"

export interface MintPermission {
  readonly account: string
  readonly expiry: number
  readonly signature: string
  readonly token: string
}

const usualSeconds = 3600
/** A signature cannot be taken back, so it must not outlive the owner's right by much. Longer wishes are cut to this. */
const maxSeconds = 86_400

/** Blocks carry a time that may be somewhat behind ours. */
const behindSeconds = 60

const checkOutcome = (noted: MintOutcome) => {
  switch (noted.outcome) {
    case "permitted":
      return undefined
    case "absent":
      return idAbsent()
    case "forbidden":
      return new Forbidden({ error: "Only the owner of an id has it minted." })
    case "minted":
      return new Conflict({ error: "The id is minted already." })
    case "in_transfer":
      return new Conflict({ error: "The id has an active transfer." })
    case "blocked":
      return new Conflict({
        error: `The id changed hands lately and is blocked until ${noted.until}.`,
        details: { blocked_until: noted.until },
      })
  }
}

const accountInvalid = ({ reason }: EthAddressInvalid) =>
  new InvalidRequest({
    error:
      reason === "checksum"
        ? "body: account: the letters' case does not fit the address"
        : "body: account: expected an address of 0x and 40 hex digits",
  })

export const checkNotMintable = Effect.fnUntraced(function* (
  permissions: MintPermissions["Service"],
  eid: string,
) {
  const until = yield* permissions.findEnd(eid)
  if (until !== undefined) return yield* stillMintable(eid, until)
})

/**
 * Permissions to mint an id as a token. Only its owner gets one: what admins and organizations may write to is not theirs to
 * take.
 */
export class Minting extends Context.Service<
  Minting,
  {
    permit(
      id: EmojiId,
      ownerId: string,
      request: { readonly account: string; readonly expiry?: number | null },
    ): Effect.Effect<MintPermission, Conflict | Forbidden | InvalidRequest | NotFound | Unavailable>
  }
>()("directory/Minting") {
  static readonly layer = Layer.effect(
    Minting,
    Effect.gen(function* () {
      const permissions = yield* MintPermissions
      const clock = yield* DatabaseClock
      const signatures = yield* MintSignatures

      return Minting.of({
        permit: Effect.fnUntraced(function* (id, ownerId, request) {
          const account = yield* Effect.mapError(checkEthAddress(request.account), accountInvalid)
          const nowSeconds = Math.floor(clock.now() / 1000)
          const wanted = request.expiry ?? nowSeconds + usualSeconds
          if (wanted <= nowSeconds) {
            return yield* new InvalidRequest({
              error: "body: expiry: expected a unix time that is still to come",
            })
          }
          const expiry = Math.min(wanted, nowSeconds + maxSeconds)
          const refused = checkOutcome(
            yield* permissions.note({
              canonical: id.canonical,
              ownerId,
              untilSeconds: expiry + behindSeconds,
            }),
          )
          if (refused !== undefined) return yield* refused
          const token = id.chain
          const signature = signatures.sign({ token, account, expirySeconds: expiry })
          return { account, expiry, signature, token }
        }),
      })
    }),
  )
}
