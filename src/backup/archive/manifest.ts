import { Result, Schema } from "effect"

/** The version of the format. It changes when an older program could not restore a new file correctly. */
export const formatVersion = 1

/** The names of the entries that describe a backup. The first entry and the last two of an archive have these names. */
export const headerName = "backup.json"
export const manifestName = "manifest.json"
export const checksumName = "sha256"

/** A master key that stored values need. `sample` is one of these values. */
const NeededKey = Schema.Struct({
  id: Schema.String,
  sample: Schema.optionalKey(Schema.Struct({ pubkey: Schema.String, sealed_key: Schema.String })),
})
export type NeededKey = typeof NeededKey.Type

/** What is known when a backup begins. A restore checks it before it changes anything. */
const BackupHeader = Schema.Struct({
  format: Schema.Literal(formatVersion),
  /** `cluster`: the files of the embedded Postgres. `dump`: the output of pg_dump. */
  kind: Schema.Literals(["cluster", "dump"]),
  begun_at: Schema.String,
  release: Schema.String,
  postgres_major: Schema.Int,
  /** Names the type of processor. The files of a cluster depend on it. */
  architecture: Schema.String,
  /** About how much space a restore needs. */
  bytes: Schema.Int,
  schema: Schema.Struct({
    /** The Postgres schema that contains the tables. */
    name: Schema.String,
    migrations: Schema.Array(Schema.String),
    /** The newest release that has created functions. */
    release: Schema.Array(Schema.Int),
  }),
  needed_keys: Schema.Array(NeededKey),
})
export type BackupHeader = typeof BackupHeader.Type

const Manifest = Schema.Struct({
  /** Every write that was acknowledged before this time is in the backup. */
  has_writes_until: Schema.String,
  wal: Schema.optionalKey(Schema.Struct({ start: Schema.String, stop: Schema.String })),
  entries: Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.Int, sha256: Schema.String })),
})
export type Manifest = typeof Manifest.Type

const decodeJson = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  name: string,
  text: string,
): S["Type"] => {
  const decoded = Schema.decodeUnknownResult(Schema.fromJsonString(schema))(text)
  if (Result.isSuccess(decoded)) return decoded.success
  throw new Error(`the entry ${name} is not valid`)
}

/** Reads the header. A format that this version does not know is reported before anything else is read. */
export const readHeader = (text: string): BackupHeader => {
  const { format } = decodeJson(Schema.Struct({ format: Schema.Int }), headerName, text)
  if (format !== formatVersion)
    throw new Error(
      `the format is ${format}, but this version reads format ${formatVersion}: use the release that made the backup, or a newer one`,
    )
  return decodeJson(BackupHeader, headerName, text)
}

export const readManifest = (text: string): Manifest => decodeJson(Manifest, manifestName, text)
