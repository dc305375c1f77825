import type { Config } from "../config/read-config.ts"
import { type Client, type DatabaseAddress, findPrimary } from "../postgres/client.ts"
import { findCluster } from "../postgres/embedded/running.ts"
import { openServer, postgresDir } from "../postgres/open-server.ts"
import { currentSchema } from "../postgres/schema/sql-files.ts"
import { type BackupHeader, formatVersion } from "./archive/manifest.ts"
import { openPartialFile, type PartialFile } from "./archive/partial-file.ts"
import { type ArchiveWriter, writeArchive } from "./archive/write-archive.ts"
import { withClient } from "./client.ts"
import { addCluster } from "./cluster/backup-cluster.ts"
import { readClock, readDatabaseFacts, readDataDirectory } from "./database-facts-store.ts"
import { namingPlace } from "./disk-full.ts"
import { addDump, checkDumpProgram } from "./dump/add-dump.ts"
import type { Note } from "./progress.ts"
import { summaryOf } from "./summary.ts"

export interface BackupOptions {
  readonly config: Config
  readonly file: string
  /** Whether an existing file is replaced. */
  readonly replace: boolean
  readonly note: Note
  readonly signal: AbortSignal
}

/** Throws instead of creating a database. */
const requireDatabase = (config: Config): void => {
  if (config.databaseUrl !== undefined || findCluster(postgresDir(config)) !== undefined) return
  throw new Error(
    `${postgresDir(config)} contains no database. Set DATA_DIR to the folder of the service, or DATABASE_URL.`,
  )
}

const writeBackup = async (
  { config, file, note, signal }: BackupOptions,
  address: DatabaseAddress,
  sql: Client,
  target: PartialFile,
) => {
  const isDump = "url" in address
  const facts = await readDatabaseFacts(sql)
  if (isDump) await checkDumpProgram(config.pgBin, facts.postgres_major)
  const header: BackupHeader = {
    format: formatVersion,
    kind: isDump ? "dump" : "cluster",
    begun_at: new Date().toISOString(),
    release: currentSchema.release.join("."),
    architecture: process.arch,
    ...facts,
  }
  const add = async (archive: ArchiveWriter) =>
    isDump
      ? addDump(archive, {
          address,
          hasWritesUntil: await readClock(sql),
          pgBin: config.pgBin,
          note,
          signal,
        })
      : addCluster(archive, {
          sql,
          clusterDir: await readDataDirectory(sql),
          label: `backup ${header.begun_at}`,
          note,
          signal,
        })
  const written = await writeArchive(target.handle, header, add)
  signal.throwIfAborted()
  return summaryOf(file, header, written.manifest, written)
}

/** Writes a backup of the database to a file, while the service runs or not. */
export const backUp = async (options: BackupOptions) => {
  const { config, file, replace } = options
  requireDatabase(config)
  const target = await openPartialFile(file, { replace })
  let isFinished = false
  try {
    const { address, close } = await openServer(config)
    try {
      await findPrimary(address)
      const made = await withClient(address, (sql) => writeBackup(options, address, sql, target))
      await target.finish()
      isFinished = true
      return made
    } finally {
      await close()
    }
  } catch (error) {
    throw namingPlace(error, file)
  } finally {
    if (!isFinished) await target.discard()
  }
}
