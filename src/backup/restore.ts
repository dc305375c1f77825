import { Redacted, Schema } from "effect"
import type { Config } from "../config/read-config.ts"
import { findPrimary } from "../postgres/client.ts"
import { createClusterFrom } from "../postgres/embedded/new-cluster.ts"
import { postgresDir } from "../postgres/open-server.ts"
import { AfterRestore, afterRestore } from "./after-restore-store.ts"
import type { Manifest } from "./archive/manifest.ts"
import { type ArchiveContent, readArchive } from "./archive/read-archive.ts"
import { withClient } from "./client.ts"
import { extractCluster } from "./cluster/extract-cluster.ts"
import { checkEmptyDatabase, readMajor, readNeededKeys } from "./database-facts-store.ts"
import { namingPlace } from "./disk-full.ts"
import { checkProgram } from "./dump/programs.ts"
import { restoreDump } from "./dump/restore-dump.ts"
import { copyProgress, type Note } from "./progress.ts"
import { checkArchitecture, checkKeys, checkMajor, checkSchema, checkTarget } from "./restore-checks.ts"
import { summaryOf } from "./summary.ts"

export interface RestoreOptions {
  readonly config: Config
  readonly file: string
  /** Nothing was written since the backup: sessions and mail stay as they are. */
  readonly isMove: boolean
  readonly note: Note
  readonly signal: AbortSignal
}

const readDone = Schema.decodeUnknownSync(Schema.fromJsonString(AfterRestore))

interface Restored {
  readonly manifest: Manifest
  readonly done: AfterRestore
}

const restoreCluster = async (archive: ArchiveContent, options: RestoreOptions): Promise<Restored> => {
  const { config, isMove, note, signal } = options
  const { header } = archive
  checkArchitecture(header)
  let manifest: Manifest | undefined
  const done = await createClusterFrom({
    dataDir: postgresDir(config),
    ...(config.pgBin === undefined ? {} : { pgBin: config.pgBin }),
    check: ({ binDir, major }) => checkMajor(header, major, binDir),
    fill: async (folder) => {
      await extractCluster(archive.entries, folder, { bytes: header.bytes, note, signal }).catch((error) => {
        throw namingPlace(error, config.dataDir)
      })
      manifest = (await archive.finish()).manifest
      note("starting Postgres, which repeats the write-ahead log")
    },
    complete: async (address) => {
      signal.throwIfAborted()
      return withClient(address, async (sql) => {
        // The data can need a key that was added while the backup was made.
        await checkKeys(config, await readNeededKeys(sql))
        const results = await sql.unsafe(afterRestore(header.schema.name, { isMove })).simple()
        signal.throwIfAborted()
        return readDone((results.at(-1) as unknown as ReadonlyArray<{ done: string }>)[0]!.done)
      })
    },
  })
  return { manifest: manifest!, done }
}

const restoreToServer = async (archive: ArchiveContent, options: RestoreOptions): Promise<Restored> => {
  const { config, isMove, note, signal } = options
  const { header } = archive
  const address = { url: Redacted.value(config.databaseUrl!) }
  await findPrimary(address)
  await withClient(address, async (sql) => {
    checkMajor(header, await readMajor(sql), "the server of DATABASE_URL")
    await checkEmptyDatabase(sql)
  })
  for (const program of ["pg_restore", "psql"] as const)
    await checkProgram(program, config.pgBin, header.postgres_major, "the backup")
  const { manifest, printed } = await restoreDump({
    archive,
    address,
    pgBin: config.pgBin,
    completion: afterRestore(header.schema.name, { isMove }),
    note,
    signal,
  })
  return { manifest, done: readDone(printed) }
}

/**
 * Restores a backup into an empty DATA_DIR or database. Checks everything that can be checked before anything is changed.
 * The result appears at once and complete, or not at all.
 */
export const restore = (options: RestoreOptions) =>
  readArchive(options.file, async (archive) => {
    const { config, file } = options
    const { header } = archive
    checkTarget(header, config)
    checkSchema(header)
    await checkKeys(config, header.needed_keys)
    const { done, manifest } = await (header.kind === "cluster" ? restoreCluster : restoreToServer)(
      archive,
      options,
    )
    return {
      file,
      kind: header.kind,
      release: header.release,
      has_writes_until: manifest.has_writes_until,
      ...done,
    }
  })

/** Reads a whole backup and checks it, without a database. */
export const verifyBackup = (file: string, signal: AbortSignal, note: Note) =>
  readArchive(file, async (archive) => {
    const { header } = archive
    const report = copyProgress(note, "checked")
    for await (const entry of archive.entries) {
      signal.throwIfAborted()
      for await (const chunk of entry.content) report(chunk.length)
    }
    const { facts, manifest } = await archive.finish()
    return summaryOf(file, header, manifest, facts)
  })
