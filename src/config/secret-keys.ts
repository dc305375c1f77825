import { hkdfSync, randomBytes, randomUUID } from "node:crypto"
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Redacted } from "effect"
import type { NamedKey } from "../crypto/key-ring.ts"
import { makeDataFolder } from "./make-folder.ts"
import type { Config } from "./read-config.ts"
import { keyList } from "./variable-readers.ts"

const fromSetting = (text: string): ReadonlyArray<NamedKey> =>
  text.split(",").map((part) => {
    const colon = part.indexOf(":")
    return { id: part.slice(0, colon).trim(), secret: Redacted.make(part.slice(colon + 1).trim()) }
  })

/**
 * Writes a new key file, unless another process has created the file. The key is flushed to the disk before any
 * process can use it.
 */
export const makeKeyFile = (folder: string, file: string): void => {
  makeDataFolder(folder)
  const made = `${file}.${randomUUID()}`
  writeFileSync(made, `k1:${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(made, file)
  } catch {
    // Either another process has created the file, which is then kept, or the file system does not support links.
    if (!existsSync(file)) renameSync(made, file)
  } finally {
    rmSync(made, { force: true })
  }
}

const fileIn = (folder: string): string => join(folder, "secret-key")

const readKeyFile = (file: string): ReadonlyArray<NamedKey> => {
  try {
    return fromSetting(keyList(readFileSync(file, "utf8").trim()))
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`)
  }
}

/**
 * Reads the master key from a file in this folder. The file is used if SECRET_KEYS is not set. The first start
 * generates the key. The key is stored outside the database, so dumps of the database do not contain it.
 */
const fromFile = (folder: string): ReadonlyArray<NamedKey> => {
  const file = fileIn(folder)
  if (!existsSync(file)) makeKeyFile(folder, file)
  return readKeyFile(file)
}

export const masterKeys = (config: Pick<Config, "secretKeys" | "dataDir">): ReadonlyArray<NamedKey> =>
  config.secretKeys === undefined ? fromFile(config.dataDir) : fromSetting(Redacted.value(config.secretKeys))

/** Returns the master keys if there are any. Unlike `masterKeys`, it does not generate one. */
export const configuredKeys = (
  config: Pick<Config, "secretKeys" | "dataDir">,
): ReadonlyArray<NamedKey> | undefined =>
  config.secretKeys === undefined && !existsSync(fileIn(config.dataDir)) ? undefined : masterKeys(config)

/** Returns the key that signs mint permissions: MINT_KEY, or a key derived from the newest master key. */
export const mintKey = (config: Pick<Config, "mintKey" | "secretKeys" | "dataDir">): Redacted.Redacted => {
  if (config.mintKey !== undefined) return config.mintKey
  const [newest] = masterKeys(config)
  const secret = Buffer.from(Redacted.value(newest!.secret), "base64")
  const derived = hkdfSync("sha256", secret, "", "emoji-id-directory/mint-signature", 32)
  return Redacted.make(Buffer.from(derived).toString("hex"))
}
