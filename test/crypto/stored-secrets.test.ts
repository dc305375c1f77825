import { randomBytes } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { expect, test } from "vitest"
import { makeApiKey, parseApiKey } from "../../src/accounts/api-keys/secrets.ts"
import { Passwords } from "../../src/accounts/passwords.ts"
import { OneTimeCodes } from "../../src/accounts/sessions/one-time-codes.ts"
import { Totp } from "../../src/accounts/two-factor/totp.ts"
import { CustodialKeys } from "../../src/crypto/custodial-keys.ts"
import { Seal } from "../../src/crypto/envelope-encryption.ts"

const master = randomBytes(32).toString("base64")
const keys = [{ id: "one", secret: Redacted.make(master) }]
const sealLayer = Seal.layer({ keys })
const services = Layer.mergeAll(
  sealLayer,
  OneTimeCodes.layer({ keys }),
  Passwords.layer({ memoryKib: 1024, passes: 1 }),
  Totp.layer({ issuer: "Emoji Id Directory" }),
  Layer.provide(CustodialKeys.layer, sealLayer),
)

test("the stored forms of passwords, codes, tokens and keys do not contain the secret as text, hex or base64", async () => {
  const { clear, stored } = await Effect.runPromise(
    Effect.gen(function* () {
      const [seal, codes, passwords, totp, custodial] = [
        yield* Seal,
        yield* OneTimeCodes,
        yield* Passwords,
        yield* Totp,
        yield* CustodialKeys,
      ]
      const password = "correct horse battery"
      const seed = yield* totp.makeSecret
      const refreshToken = yield* codes.makeOpaqueToken
      const backupCodes = yield* codes.makeBackupCodes
      const apiKey = yield* makeApiKey
      const wallet = yield* custodial.make
      const privateKey = yield* seal.open(wallet.sealedKey, `custodial-key/${wallet.pubkey}`)
      return {
        clear: [
          Buffer.from(password),
          Buffer.from(seed),
          Buffer.from(refreshToken, "base64url"),
          ...backupCodes.map((code) => Buffer.from(code)),
          Buffer.from(parseApiKey(apiKey.text)!.secret),
          privateKey.subarray(-32),
          Buffer.from(master, "base64"),
        ],
        stored: JSON.stringify([
          yield* passwords.hash(password),
          yield* seal.seal(Buffer.from(seed), "totp/user-1"),
          codes.hash({ purpose: "refresh-token" }, refreshToken),
          backupCodes.map((code) => codes.hash({ purpose: "backup-code", subject: "user-1" }, code)),
          { id: apiKey.id, hash: apiKey.hash },
          wallet,
        ]),
      }
    }).pipe(Effect.provide(services)),
  )
  for (const secret of clear) {
    for (const encoding of ["latin1", "hex", "base64", "base64url"] as const) {
      expect(stored).not.toContain(secret.toString(encoding).replace(/=+$/, ""))
    }
  }
})
