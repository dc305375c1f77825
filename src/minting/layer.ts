import { Effect, Layer } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { mintKey } from "../config/secret-keys.ts"
import { MintPermissions } from "./mint-permission-store.ts"
import { MintSignatures } from "./mint-signatures.ts"
import { MintedIds } from "./minted-store.ts"
import { Minting } from "./minting.ts"

/** Provides only the signer of mint permissions. The CLI command that prints the signer's address needs no more. */
export const mintSignatures = Layer.unwrap(
  Effect.map(AppConfig, (config) => MintSignatures.layer({ key: mintKey(config) })),
)

/** Provides the service that gives permissions to mint an id as a token. */
export const minting = Minting.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(MintPermissions.layer, MintedIds.layer, mintSignatures)),
)
