import { Effect } from "effect"
import type { CodeKeyKind, RandomYatActivateBody } from "../../../schema/orders/random-id-code.ts"
import { activationMessage, checkPubkey, pubkeySigned } from "../../keys/pubkeys.ts"
import { readRistrettoKey, ristrettoSigned } from "../../keys/ristretto-signatures.ts"

interface KeyRules {
  /** Returns the key in the form that is stored, or undefined if it is not a valid key. */
  readonly read: (pubkey: string) => Effect.Effect<string | undefined>
  readonly refusal: string
  readonly isSigned: (alternateId: string, body: RandomYatActivateBody) => boolean
  /** The text that a code accepts once. */
  readonly activation: (alternateId: string, nonce: string) => string
  readonly usedUp: string
}

const messageHex = (alternateId: string, nonce: string): string =>
  Buffer.from(activationMessage(alternateId, nonce)).toString("hex")

export const keyRules: Record<CodeKeyKind, KeyRules> = {
  ed25519: {
    read: (pubkey) => checkPubkey(pubkey).pipe(Effect.catch(() => Effect.succeed(undefined))),
    refusal: "This is not an Ed25519 public key of 64 hex digits.",
    isSigned: (alternateId, { nonce, pubkey, signature }) =>
      pubkeySigned(pubkey, activationMessage(alternateId, nonce), signature),
    activation: messageHex,
    usedUp: "This activation was already used. Sign a new nonce.",
  },
  ristretto255: {
    read: (pubkey) => Effect.succeed(readRistrettoKey(pubkey)),
    refusal:
      "This is not a Ristretto255 public key of 64 hex digits. To list an Ed25519 key, add ?kind=ed25519 to the URL.",
    isSigned: (alternateId, body) => ristrettoSigned(body.pubkey, alternateId, body),
    // Any number of nonces can be made for one user without the private key, so the nonce does not count. The prefix is
    // known to put_activations.
    activation: (alternateId) => `ristretto255:${messageHex(alternateId, "")}`,
    usedUp: "This alternate_id has already used this code.",
  },
}
