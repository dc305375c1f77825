import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { mintKey } from "../config/secret-keys.ts"
import { MintPermissions } from "./mint-permission-store.ts"
import { MintSignatures } from "./mint-signatures.ts"
import { Minting } from "./minting.ts"

/** Only the signer, for the CLI command that prints its address. */
export const mintSignatures = Layer.unwrap(
  Effect.map(AppConfig, (config) => MintSignatures.layer({ key: mintKey(config) })),
)

/** Permissions to mint an id as a token. */
export const minting = Minting.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(MintPermissions.layer, mintSignatures)),
)
