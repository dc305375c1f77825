import { join, resolve } from "node:path"
import { Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { startEmbeddedPostgres } from "../postgres/embedded/embedded.ts"
import { hasCluster } from "../postgres/embedded/has-cluster.ts"
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
 * Fails if there is no embedded database. With a wrong DATA_DIR, the command would create an empty database there, and the
 * operator would look at the wrong one.
 */
export const checkDatabaseExists = ({ databaseUrl, dataDir }: Config): void => {
  if (databaseUrl !== undefined || hasCluster(join(dataDir, "postgres"))) return
  throw new Error(
    `DATA_DIR: there is no database in ${resolve(dataDir)}. Set DATA_DIR or DATABASE_URL as for the service, ` +
      "or start the service there once, which creates it: npm start",
  )
}

/**
 * Opens the database of DATABASE_URL. If DATABASE_URL is not set, opens the embedded database. The server of the
 * embedded database is started for this command if it is not running. In both cases, the database is migrated to the
 * newest schema.
 */
export const openDatabase = async (config: Config): Promise<OpenDatabase> => {
  checkDatabaseExists(config)
  const database = await open(config)
  try {
    await prepareDatabase(database.address, config.statementTimeoutMs)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
