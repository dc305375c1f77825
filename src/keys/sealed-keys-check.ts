import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { listSealedKeys } from "./sealed-key-store.ts"

/**
 * The maximum number of keys that are checked per secret. One key that can be decrypted proves that the secret is
 * correct. More than one key is checked because single keys may be corrupt.
 */
const keysPerSecret = 16
const nothing = new Uint8Array()

/** Fails if the database contains keys that were encrypted with a master secret that is not configured now. */
export const checkSealedKeys = Effect.gen(function* () {
  const custody = yield* CustodialKeys
  const config = yield* AppConfig
  const opens = new Map<string, boolean>()
  for (const { sealedBy, ...key } of yield* listSealedKeys(keysPerSecret)) {
    if (opens.get(sealedBy)) continue
    opens.set(sealedBy, yield* Effect.isSuccess(custody.sign(key, nothing)))
  }
  if ([...opens.values()].every(Boolean)) return
  const source = config.secretKeys === undefined ? join(config.dataDir, "secret-key") : "SECRET_KEYS"
  yield* Effect.fail(
    new Error(
      `${source}: cannot decrypt the keys stored in this database; start with the secret that encrypted them`,
    ),
  )
})

/**
 * Runs `checkSealedKeys` at startup, so that the service does not start with a wrong secret. For example, a release
 * that starts in a new data folder generates a new secret. It could not decrypt any second factor or custodial key, and
 * the data that it encrypts with the new secret would be lost with the folder.
 */
export const sealedKeysCheck = Layer.effectDiscard(checkSealedKeys).pipe(Layer.provide(CustodialKeys.layer))
