import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import { AppConfig, type Config } from "../../config/read-config.ts"
import { masterKeys } from "../../config/secret-keys.ts"
import { CustodialKeys } from "../../crypto/custodial-keys.ts"
import { Seal } from "../../crypto/envelope-encryption.ts"
import { checkSealedKeys } from "../../keys/sealed-keys-check.ts"
import { diagnoseDatabase } from "../../postgres/checks/diagnose.ts"
import { Sql } from "../../postgres/sql.ts"
import { locate } from "./database.ts"
import { type Finding, failed, messageOf, ok, warning } from "./finding.ts"

const check = "secrets"
/** A key of random bytes has fewer different bytes than this only with a probability below 1 in 10^12. */
const leastDifferentBytes = 16

const isWeak = (secret: Redacted.Redacted): boolean =>
  new Set(Buffer.from(Redacted.value(secret), "base64")).size < leastDifferentBytes

/** Whether the keys open what the database stores. Undefined if the database cannot be asked. */
const opens = async (config: Config): Promise<Finding | undefined> => {
  const located = locate(config)
  if ("problem" in located) return undefined
  const facts = await diagnoseDatabase(located.address, config.statementTimeoutMs).catch(() => undefined)
  if (facts === undefined || facts.pending.length > 0) return undefined
  const layer = CustodialKeys.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Sql.layer({
          connection: located.address,
          poolSize: 1,
          statementTimeoutMs: config.statementTimeoutMs,
        }),
        Seal.layer({ keys: masterKeys(config) }),
        Layer.succeed(AppConfig, config),
      ),
    ),
  )
  try {
    await Effect.runPromise(Effect.provide(checkSealedKeys, layer))
    return ok(check, "the keys open what the database stores")
  } catch (error) {
    return failed(
      check,
      messageOf(error),
      "Restore the lost entry of SECRET_KEYS, or the file secret-key of the backup.",
    )
  }
}

export const checkSecrets = async (config: Config): Promise<ReadonlyArray<Finding>> => {
  const file = join(config.dataDir, "secret-key")
  // Without this test, reading the keys would generate one.
  if (config.secretKeys === undefined && !existsSync(file))
    return [
      warning(
        check,
        `SECRET_KEYS is not set, and ${file} does not exist`,
        'Run "npm run cli -- keys generate" and set SECRET_KEYS; otherwise the first start generates the file.',
      ),
    ]
  const keys = masterKeys(config)
  const weak = keys.find(({ secret }) => isWeak(secret))
  const place = config.secretKeys === undefined ? file : "SECRET_KEYS"
  return [
    weak === undefined
      ? ok(
          check,
          `${keys.length === 1 ? "1 key" : `${keys.length} keys`} in ${place}, the newest is "${keys[0]?.id}"`,
        )
      : failed(
          check,
          `the key "${weak.id}" in ${place} is not random`,
          'Generate another one with "npm run cli -- keys generate" and make it the first entry.',
        ),
    ...[await opens(config)].filter((finding) => finding !== undefined),
  ]
}
