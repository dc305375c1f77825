import { Layer } from "effect"
import { DefaultPubkeys } from "./default-pubkey.ts"
import { EthWallets } from "./eth-wallets.ts"
import { Pubkeys } from "./pubkey-store.ts"
import { Wallets } from "./wallet-store.ts"

/** The services for the pubkeys, custodial keys and Ethereum wallets of users. */
export const keys = Layer.mergeAll(
  DefaultPubkeys.layer,
  EthWallets.layer({ serviceName: "Emoji Id Directory" }),
).pipe(Layer.provideMerge(Layer.mergeAll(Pubkeys.layer, Wallets.layer)))
