import type { Config } from "../config/config.ts"
import { findCluster } from "../postgres/embedded/running.ts"
import { openServer, postgresDir } from "../postgres/open-server.ts"
import { type Client, connect, findPrimary } from "../postgres/sql.ts"
import { currentSchema } from "../postgres/sql-files.ts"
import { type BackupHeader, formatVersion, type Manifest } from "./archive/manifest.ts"
import { openPartialFile } from "./archive/partial-file.ts"
import { writeArchive } from "./archive/write-archive.ts"
import { addCluster } from "./cluster/backup-cluster.ts"
import { readClock, readDatabaseFacts, readDataDirectory } from "./database-facts-store.ts"
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

/** A client with one connection, whose statements may take any time. */
const openClient = (connection: Parameters<typeof connect>[0]["connection"]): Client =>
  connect({ connection, poolSize: 1, statementTimeoutMs: 0 })

/** Throws instead of creating a database. */
const requireDatabase = (config: Config): void => {
  if (config.databaseUrl !== undefined || findCluster(postgresDir(config)) !== undefined) return
  throw new Error(
    `${postgresDir(config)} contains no database. Set DATA_DIR to the folder of the service, or DATABASE_URL.`,
  )
}

/** Writes a backup of the database to a file, while the service runs or not. */
export const backUp = async (options: BackupOptions) => {
  const { config, file, note, replace, signal } = options
  requireDatabase(config)
  const target = await openPartialFile(file, { replace })
  let isFinished = false
  try {
    const server = await openServer(config)
    const { address } = server
    let sql: Client | undefined
    try {
      await findPrimary(address)
      sql = openClient(address)
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
      const hasWritesUntil = await readClock(sql)
      const clusterDir = isDump ? "" : await readDataDirectory(sql)
      const client = sql
      let manifest: Pick<Manifest, "has_writes_until"> = { has_writes_until: hasWritesUntil }
      const written = await writeArchive(target.handle, header, async (archive) => {
        const added = isDump
          ? await addDump(archive, { address, hasWritesUntil, pgBin: config.pgBin, note, signal })
          : await addCluster(archive, {
              sql: client,
              clusterDir,
              label: `backup ${header.begun_at}`,
              note,
              signal,
            })
        manifest = added
        return added
      })
      signal.throwIfAborted()
      await target.finish()
      isFinished = true
      return summaryOf(file, header, manifest, written)
    } finally {
      await sql?.end({ timeout: 5 })
      await server.close()
    }
  } finally {
    if (!isFinished) await target.discard()
  }
}
