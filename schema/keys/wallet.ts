import { Schema } from "effect"
import { Uuid } from "../wire-format.ts"

export const WalletSource = Schema.Literals(["Mint", "Dashboard"])

export const Wallet = Schema.Struct({ eth_address: Schema.String, user_id: Uuid }).annotate({
  identifier: "Wallet",
})
export type Wallet = typeof Wallet.Type

export const WalletSyncRequest = Schema.Struct({
  signature: Schema.String.check(Schema.isMaxLength(200)),
  source: WalletSource,
}).annotate({ identifier: "WalletSyncRequest" })

/** The message that a wallet signs with `personal_sign` to prove that it belongs to the user. */
export const WalletChallenge = Schema.Struct({ message: Schema.String, source: WalletSource }).annotate({
  identifier: "WalletChallenge",
})
