import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { mintKey } from "../config/secret-keys.ts"
import { MintSignatures } from "./mint-signatures.ts"

/** Of the service, and of the command line that tells who it signs as. */
export const mintSignatures = Layer.unwrap(
  Effect.map(AppConfig, (config) => MintSignatures.layer({ key: mintKey(config) })),
)
