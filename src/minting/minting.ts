import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import {
  Conflict,
  Forbidden,
  type InvalidRequest,
  invalidValue,
  type NotFound,
  type Unavailable,
} from "../../schema/errors.ts"
import { isoTime } from "../../schema/iso-time.ts"
import type { Mail } from "../../schema/turn.ts"
import { Accounts } from "../accounts/account-store.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import { idAbsent } from "../directory/edit-outcome.ts"
import { stillMintable } from "../directory/mint-conflict.ts"
import { checkEthAddress, type EthAddressInvalid } from "../keys/eth-address.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Outbox } from "../turns/outbox.ts"
import { type MintOutcome, MintPermissions, type MintState } from "./mint-permission-store.ts"
import { MintSignatures } from "./mint-signatures.ts"

export interface MintPermission {
  readonly account: string
  readonly expiry: number
  readonly signature: string
  readonly token: string
}

/** A stored mint permission. The signature is kept, so that a repeated request gets the same one. */
type Permitted = WriteOutcome<{ readonly result: MintOutcome }, MintPermission>

const defaultSeconds = 3600
/**
 * The maximum validity of a signature, in seconds. A signature cannot be revoked, so it must expire soon. If the
 * request asks for a longer validity, the signature gets this maximum.
 */
const maxSeconds = 86_400

/**
 * A permission is recorded as valid for this many seconds longer than its signature. The reason is that the contract
 * compares the expiry with the time of a block, which may be behind our clock.
 */
const behindSeconds = 60

const checkOutcome = (noted: MintOutcome) => {
  switch (noted.outcome) {
    case "permitted":
      return undefined
    case "absent":
      return idAbsent()
    case "forbidden":
      return new Forbidden({ error: "Only the owner can mint this emoji id." })
    case "minted":
      return new Conflict({ error: "This emoji id is already minted.", details: { minted: true } })
    case "in_transfer":
      return new Conflict({
        error: "This emoji id has an active transfer. Complete or delete the transfer first.",
      })
    case "blocked":
      return new Conflict({
        error: `This emoji id was transferred recently. It cannot be minted until ${noted.until}.`,
        details: { blocked_until: noted.until },
      })
  }
}

const accountInvalid = ({ reason }: EthAddressInvalid) =>
  invalidValue(
    "body",
    "account",
    reason === "checksum"
      ? "the EIP-55 checksum of the address is wrong"
      : "expected an Ethereum address: 0x and 40 hex digits",
  )

/**
 * Fails if the id must stay with its owner: because it is minted, or because its owner can still mint it. A minted id
 * belongs to the holder of its token, and the service does not follow the token contract. So only an administrator can
 * transfer it (`forced`), to the new holder of the token.
 */
export const checkMayMove = Effect.fnUntraced(function* (
  { minted, until }: MintState,
  eid: string,
  { forced }: { readonly forced: boolean },
) {
  if (minted && !forced)
    return yield* new Conflict({
      error: `${eid} is minted as a token. It changes its owner together with its token: ask an administrator.`,
      details: { minted },
    })
  if (until !== null) return yield* stillMintable(eid, until)
})

/**
 * Gives permissions to mint an id as a token. Only the owner of the id can get one. Admins and organizations may write
 * to an id, but they may not mint it. A signature cannot be revoked, so the owner gets a mail about each one.
 */
export class Minting extends Context.Service<
  Minting,
  {
    permit(
      id: EmojiId,
      ownerId: string,
      request: { readonly account: string; readonly expiry?: number | null },
    ): Effect.Effect<Written<Permitted>, Conflict | Forbidden | InvalidRequest | NotFound | Unavailable>
    /** Records the permission in the security log and returns it. */
    permitted(id: EmojiId, ownerId: string, permitted: Permitted): Effect.Effect<MintPermission>
  }
>()("directory/Minting") {
  static readonly layer = Layer.effect(
    Minting,
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const outbox = yield* Outbox
      const permissions = yield* MintPermissions
      const clock = yield* DatabaseClock
      const securityLog = yield* SecurityLog
      const signatures = yield* MintSignatures

      /**
       * Returns the mail about a signature. It goes to the confirmed address. After a change of the address, this is the
       * earlier one until the new one is confirmed. Without a confirmed address there is no mail.
       */
      const noticeTo = Effect.fnUntraced(function* (ownerId: string, data: Mail["data"]) {
        const account = yield* accounts.find({ id: ownerId })
        const to = account?.email_verified ? account.email : yield* accounts.findLeftEmail(ownerId)
        return yield* outbox.seal(to == null ? [] : [{ to, kind: "mint_signature", data }])
      })

      return Minting.of({
        permit: Effect.fnUntraced(function* (id, ownerId, request) {
          const account = yield* Effect.mapError(checkEthAddress(request.account), accountInvalid)
          const nowSeconds = Math.floor(clock.now() / 1000)
          const wanted = request.expiry ?? nowSeconds + defaultSeconds
          if (wanted <= nowSeconds) {
            return yield* invalidValue("body", "expiry", "expected a Unix time in the future, in seconds")
          }
          const expiry = Math.min(wanted, nowSeconds + maxSeconds)
          const token = id.chain
          const signature = signatures.sign({ token, account, expirySeconds: expiry })
          const noted = yield* permissions.note(
            {
              canonical: id.canonical,
              ownerId,
              untilSeconds: expiry + behindSeconds,
              mail: yield* noticeTo(ownerId, {
                emoji_id: id.canonical,
                account,
                expires_at: isoTime(expiry * 1000),
              }),
            },
            { account, expiry, signature, token },
          )
          const refused = checkOutcome(noted.outcome.rows[0]!.result)
          return refused === undefined ? noted : yield* refused
        }),
        permitted: Effect.fnUntraced(function* (id, ownerId, { keep }) {
          yield* securityLog.record({
            event: "mint.signed",
            userId: ownerId,
            details: {
              emoji_id: id.canonical,
              account: keep.account,
              expires_at: isoTime(keep.expiry * 1000),
            },
          })
          return keep
        }),
      })
    }),
  )
}
