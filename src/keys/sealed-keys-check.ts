import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AppConfig } from "../config/config.ts"
import { CustodialKeys } from "./custodial-keys.ts"
import { listSealedKeys } from "./sealed-key-store.ts"

/** Of each secret. Some may have been spoiled; all of these were not. */
const looksAt = 16
const nothing = new Uint8Array()

/** Fails where a master secret is missing that the database keeps something sealed by. */
export const checkSealedKeys = Effect.gen(function* () {
  const custody = yield* CustodialKeys
  const config = yield* AppConfig
  const opens = new Map<string, boolean>()
  for (const { sealedBy, ...key } of yield* listSealedKeys(looksAt)) {
    if (opens.get(sealedBy)) continue
    opens.set(sealedBy, yield* Effect.isSuccess(custody.sign(key, nothing)))
  }
  if ([...opens.values()].every(Boolean)) return
  const source = config.secretKeys === undefined ? join(config.dataDir, "secret-key") : "SECRET_KEYS"
  yield* Effect.fail(
    new Error(
      `${source}: what this database keeps sealed does not open with it; start with the secret of before`,
    ),
  )
})

/**
 * Stops the start then. A release in a folder of its own makes itself another secret: no second factor or wallet would open,
 * and what it seals would be lost with the folder.
 */
export const sealedKeysCheck = Layer.effectDiscard(checkSealedKeys).pipe(Layer.provide(CustodialKeys.layer))
