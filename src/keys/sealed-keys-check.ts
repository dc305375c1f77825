import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { CustodialKeys } from "./custodial-keys.ts"
import { listSealedKeys } from "./sealed-key-store.ts"

/** Keys checked per secret. One may be corrupt, but not all of them. */
const keysPerSecret = 16
const nothing = new Uint8Array()

/** Fails if the database contains keys that were encrypted with a master secret that is not configured. */
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
 * Stops the startup in that case. A release that starts in a new folder generates a new secret: it could not decrypt
 * any second factor or custodial key, and data encrypted with the new secret would be lost with the folder.
 */
export const sealedKeysCheck = Layer.effectDiscard(checkSealedKeys).pipe(Layer.provide(CustodialKeys.layer))
