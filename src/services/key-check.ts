import { join } from "node:path"
import { Effect, Layer } from "effect"
import { AppConfig } from "../config.ts"
import { Sql } from "../store/sql.ts"
import { type CustodialKey, CustodialKeys } from "./custodial-keys.ts"

/** Some may have been spoiled; all of these were not. */
const looksAt = 16
const nothing = new Uint8Array()

/** Fails with a master secret that opens nothing of what the database keeps sealed. */
export const checkSecret = Effect.gen(function* () {
  const sql = yield* Sql
  const custody = yield* CustodialKeys
  const config = yield* AppConfig
  const kept = yield* sql.rows<CustodialKey>(
    (q) =>
      q`select pubkey, sealed_key as "sealedKey" from pubkey where sealed_key is not null limit ${looksAt}`,
  )
  for (const key of kept) if (yield* Effect.isSuccess(custody.sign(key, nothing))) return
  if (kept.length === 0) return
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
export const keyCheck = Layer.effectDiscard(checkSecret).pipe(Layer.provide(CustodialKeys.layer))
