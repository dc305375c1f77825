import { Context, Effect, Layer } from "effect"
import type { EmojiId } from "../../schema/emoji-id.ts"
import {
  Conflict,
  type Forbidden,
  InvalidRequest,
  type NotFound,
  type Unavailable,
} from "../../schema/errors.ts"
import { DatabaseClock } from "../store/database-clock.ts"
import { EmojiIds, type WriteFacts } from "../store/emoji-ids.ts"
import { idAbsent, writeForbidden } from "./edit-outcome.ts"
import { checkEthAddress, type EthAddressInvalid } from "./eth-address.ts"
import { MintSignatures } from "./mint-signatures.ts"
import type { Writer } from "./writer.ts"

export interface MintPermission {
  readonly account: string
  readonly expiry: number
  readonly signature: string
  readonly token: string
}

const usualSeconds = 3600
/** A signature cannot be taken back, so it must not outlive the owner's right by much. Longer wishes are cut to this. */
const maxSeconds = 86_400

const guard = (facts: WriteFacts): Conflict | undefined => {
  if (facts.isMinted) return new Conflict({ error: "The id is minted already." })
  if (facts.isInTransfer) return new Conflict({ error: "The id has an active transfer." })
  return facts.blockedUntil === null
    ? undefined
    : new Conflict({
        error: `The id changed hands lately and is blocked until ${facts.blockedUntil}.`,
        details: { blocked_until: facts.blockedUntil },
      })
}

const accountInvalid = ({ reason }: EthAddressInvalid) =>
  new InvalidRequest({
    error:
      reason === "checksum"
        ? "body: account: the letters' case does not fit the address"
        : "body: account: expected an address of 0x and 40 hex digits",
  })

/** Permissions to mint an id as a token. Only its owner side gets one: an admin has no business minting others' ids. */
export class Minting extends Context.Service<
  Minting,
  {
    permit(
      id: EmojiId,
      writer: Writer,
      request: { readonly account: string; readonly expiry?: number | null },
    ): Effect.Effect<MintPermission, Conflict | Forbidden | InvalidRequest | NotFound | Unavailable>
  }
>()("directory/Minting") {
  static readonly layer = Layer.effect(
    Minting,
    Effect.gen(function* () {
      const ids = yield* EmojiIds
      const clock = yield* DatabaseClock
      const signatures = yield* MintSignatures

      return Minting.of({
        permit: Effect.fnUntraced(function* (id, writer, request) {
          const account = yield* Effect.mapError(checkEthAddress(request.account), accountInvalid)
          const nowSeconds = Math.floor(clock.now() / 1000)
          const wanted = request.expiry ?? nowSeconds + usualSeconds
          if (wanted <= nowSeconds) {
            return yield* new InvalidRequest({
              error: "body: expiry: expected a unix time that is still to come",
            })
          }
          const facts = yield* ids.findWriteFacts(id.canonical, writer.userId, writer.organizations)
          if (facts === undefined) return yield* idAbsent()
          if (!facts.mayWrite) return yield* writeForbidden()
          const refused = guard(facts)
          if (refused !== undefined) return yield* refused
          const expiry = Math.min(wanted, nowSeconds + maxSeconds)
          const token = id.chain
          const signature = signatures.sign({ token, account, expirySeconds: expiry })
          return { account, expiry, signature, token }
        }),
      })
    }),
  )
}
