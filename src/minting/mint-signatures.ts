import { secp256k1 } from "@noble/curves/secp256k1.js"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { Context, Data, Effect, Layer, Redacted } from "effect"
import { type EthAddress, ethAddressOf } from "../keys/eth-address.ts"
import { recoverEthSigner, signEthMessage } from "../keys/eth-message.ts"

export interface Mint {
  /** The id in chain format, which is the format that the token contract uses. */
  readonly token: string
  readonly account: EthAddress
  /** The Unix time after which the contract rejects the signature. */
  readonly expirySeconds: number
}

export class MintKeyInvalid extends Data.TaggedError("MintKeyInvalid")<{}> {}

const domain = "svcNFT"

/**
 * Returns `keccak256(abi.encodePacked("svcNFT", token, account, expiry))` as Solidity computes it, with `string token`,
 * `address account` (20 bytes) and `uint256 expiry` (32 bytes, big-endian). Only the token has a variable length, so
 * two different mints never have the same digest. A contract checks the signature with
 * `ECDSA.recover(digest.toEthSignedMessageHash(), signature)`.
 */
export const mintDigest = ({ token, account, expirySeconds }: Mint): Uint8Array => {
  if (!Number.isSafeInteger(expirySeconds) || expirySeconds < 0)
    throw new RangeError("expiry is not a Unix time")
  const expiry = expirySeconds.toString(16).padStart(64, "0")
  return keccak_256(
    Buffer.concat([Buffer.from(domain + token), Buffer.from(account.slice(2) + expiry, "hex")]),
  )
}

/** Signs mint permissions. A signature proves to the token contract that an account may mint an id. */
export class MintSignatures extends Context.Service<
  MintSignatures,
  {
    /** The address of the signing key. The contract must be configured to trust it. */
    readonly signer: Effect.Effect<EthAddress>
    readonly sign: (mint: Mint) => string
    readonly recover: (mint: Mint, signature: string) => EthAddress | undefined
  }
>()("services/MintSignatures") {
  /** `key` is the private key that signs: 32 bytes in hex, with or without 0x. */
  static readonly layer = (options: { readonly key: Redacted.Redacted }) =>
    Layer.effect(
      MintSignatures,
      Effect.gen(function* () {
        const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(Redacted.value(options.key)) ?? []
        const secretKey = Buffer.from(digits ?? "", "hex")
        if (!secp256k1.utils.isValidSecretKey(secretKey)) return yield* new MintKeyInvalid()
        return MintSignatures.of({
          // The address is computed when it is used. Computing it at startup would make the start 10 % slower.
          signer: Effect.sync(() => ethAddressOf(secp256k1.getPublicKey(secretKey))),
          sign: (mint) => signEthMessage(mintDigest(mint), secretKey),
          recover: (mint, signature) => recoverEthSigner(mintDigest(mint), signature),
        })
      }),
    )
}
