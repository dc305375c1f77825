import { Context, Data, Effect, Layer } from "effect"
import type { EthAddress } from "./eth-address.ts"
import { recoverEthSigner } from "./eth-message.ts"

export type WalletSource = "Mint" | "Dashboard"

export class WalletSignatureInvalid extends Data.TaggedError("WalletSignatureInvalid")<{}> {}

/**
 * Verifies that a wallet belongs to a user: the wallet signs a text with `personal_sign`. The text depends only on the
 * user and the source. It needs no nonce: if a signature is sent again, it links the same wallet to the same user. If
 * it is sent for another user, an unrelated address is recovered from it, so it does not link this wallet.
 */
export class EthWallets extends Context.Service<
  EthWallets,
  {
    readonly challenge: (userId: string, source: WalletSource) => string
    readonly recover: (
      userId: string,
      source: WalletSource,
      signature: string,
    ) => Effect.Effect<EthAddress, WalletSignatureInvalid>
  }
>()("services/EthWallets") {
  static readonly layer = (options: { readonly serviceName: string }) => {
    const challenge = (userId: string, source: WalletSource) =>
      `${options.serviceName} asks you to link this wallet.\n\nUser: ${userId}\nSource: ${source}`
    return Layer.succeed(
      EthWallets,
      EthWallets.of({
        challenge,
        recover: Effect.fnUntraced(function* (userId: string, source: WalletSource, signature: string) {
          const message = new TextEncoder().encode(challenge(userId, source))
          const address = recoverEthSigner(message, signature)
          if (address === undefined) return yield* new WalletSignatureInvalid()
          return address
        }),
      }),
    )
  }
}
