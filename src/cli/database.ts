import { join } from "node:path"
import { Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { startEmbeddedPostgres } from "../postgres/embedded/embedded.ts"
import { findRunningPostgres } from "../postgres/embedded/running.ts"
import { prepareDatabase } from "../postgres/prepare-database.ts"
import type { DatabaseAddress } from "../postgres/sql.ts"

export interface OpenDatabase {
  readonly address: DatabaseAddress
  close(): Promise<void>
}

const open = async (config: Config): Promise<OpenDatabase> => {
  if (config.databaseUrl !== undefined) {
    return { address: { url: Redacted.value(config.databaseUrl) }, close: async () => {} }
  }
  const dataDir = join(config.dataDir, "postgres")
  const running = findRunningPostgres(dataDir)
  if (running !== undefined) return { address: { ...running, database: "postgres" }, close: async () => {} }
  const started = await startEmbeddedPostgres({
    dataDir,
    ...(config.pgBin === undefined ? {} : { pgBin: config.pgBin }),
  })
  const { port, socketDir } = started
  return { address: { socketDir, port, database: "postgres" }, close: () => started.stop() }
}

/**
 * Opens the database of DATABASE_URL. If DATABASE_URL is not set, opens the embedded database. The server of the
 * embedded database is started for this command if it is not running. In both cases, the database is migrated to the
 * newest schema.
 */
export const openDatabase = async (config: Config): Promise<OpenDatabase> => {
  const database = await open(config)
  try {
    await prepareDatabase(database.address, config.statementTimeoutMs)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
