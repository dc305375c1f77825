import { join } from "node:path"
import { Effect } from "effect"
import type { Config } from "../config/read-config.ts"
import { configuredKeys } from "../config/secret-keys.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import type { NamedKey } from "../crypto/key-ring.ts"
import { currentSchema, migrationFiles } from "../postgres/schema/sql-files.ts"
import type { BackupHeader, NeededKey } from "./archive/manifest.ts"

/** Whether these keys can decrypt the sample. Without a sample, the id is compared. */
const isUsable = async (keys: ReadonlyArray<NamedKey>, { id, sample }: NeededKey): Promise<boolean> => {
  if (!keys.some((key) => key.id === id)) return false
  if (sample === undefined) return true
  const key = { pubkey: sample.pubkey, sealedKey: sample.sealed_key }
  const opens = CustodialKeys.use((custody) => Effect.isSuccess(custody.sign(key, new Uint8Array())))
  return Effect.runPromise(
    opens.pipe(Effect.provide(CustodialKeys.layer), Effect.provide(Seal.layer({ keys }))),
  )
}

/** Throws unless the configured master keys can decrypt what is stored. Generates no key. */
export const checkKeys = async (
  config: Pick<Config, "secretKeys" | "dataDir">,
  needed: ReadonlyArray<NeededKey>,
): Promise<void> => {
  const keys = configuredKeys(config)
  const missing: Array<string> = []
  for (const one of needed) if (!(await isUsable(keys ?? [], one))) missing.push(one.id)
  if (missing.length === 0) return
  const ids = missing.map((id) => `"${id}"`).join(", ")
  const file = join(config.dataDir, "secret-key")
  const reason =
    config.secretKeys !== undefined
      ? "SECRET_KEYS cannot decrypt them. Set it to the value of the service that was backed up"
      : keys === undefined
        ? `No key is configured: SECRET_KEYS is not set, and ${file} does not exist. Copy the file secret-key from the DATA_DIR of the service that was backed up, or set SECRET_KEYS`
        : `${file} cannot decrypt them. Replace it by the file of the service that was backed up, or set SECRET_KEYS`
  throw new Error(
    `The stored secrets of this backup need the key ${ids}. ${reason}, and run the command again. Nothing was changed.`,
  )
}

const asText = (release: ReadonlyArray<number>): string => release.join(".")

/** Whether a release is higher than another one. */
const isNewer = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean => {
  const at = one.findIndex((number, i) => number !== other[i])
  return at >= 0 && one[at]! > (other[at] ?? -1)
}

/** Throws if the backup was used by a newer release than this one, whose data this release may not understand. */
export const checkSchema = ({ release, schema }: BackupHeader): void => {
  const known = new Set(migrationFiles(currentSchema).map(({ name }) => name))
  const unknown = schema.migrations.filter((name) => !known.has(name))
  if (unknown.length === 0 && !isNewer(schema.release, currentSchema.release)) return
  const newest = isNewer(schema.release, currentSchema.release) ? asText(schema.release) : release
  throw new Error(
    `The backup is of a newer release (${newest}${unknown.length > 0 ? `, with ${unknown.join(", ")}` : ""}) than this one (${asText(currentSchema.release)}). Restore it with release ${newest} or newer.`,
  )
}

/** Throws if the backup is of another kind than the database that is configured. */
export const checkTarget = ({ kind }: BackupHeader, { databaseUrl }: Pick<Config, "databaseUrl">): void => {
  if (kind === "dump" && databaseUrl === undefined)
    throw new Error(
      "This is a backup of an external database (pg_dump). Set DATABASE_URL to an empty database, and run the command again.",
    )
  if (kind === "cluster" && databaseUrl !== undefined)
    throw new Error(
      "This is a backup of an embedded Postgres. Restore it without DATABASE_URL, into a DATA_DIR without a database.",
    )
}

/**
 * Throws if Postgres cannot read the data. The files of a cluster need the same major version. A dump can be restored to the
 * same or a newer one. `where` names the server or its programs.
 */
export const checkMajor = (
  { kind, postgres_major, release }: BackupHeader,
  major: number,
  where: string,
): void => {
  if (kind === "cluster" && major !== postgres_major)
    throw new Error(
      `The backup has files of PostgreSQL ${postgres_major}, but ${where} is PostgreSQL ${major}, which cannot read them. Set PG_BIN to the programs of PostgreSQL ${postgres_major} (/usr/lib/postgresql/${postgres_major}/bin on Debian), or restore with release ${release} of the service. "Another version of PostgreSQL" in docs/operating.md describes how to change the version afterwards.`,
    )
  if (kind === "dump" && major < postgres_major)
    throw new Error(
      `The backup was made from PostgreSQL ${postgres_major}, but ${where} is PostgreSQL ${major}. Restore it to PostgreSQL ${postgres_major} or newer.`,
    )
}

/** Throws if the files of a cluster were written by another type of processor. */
export const checkArchitecture = ({ architecture }: BackupHeader): void => {
  if (architecture !== process.arch)
    throw new Error(
      `The backup was made on ${architecture}, but this machine is ${process.arch}. Files of Postgres cannot be moved between them: restore it on ${architecture}.`,
    )
}
