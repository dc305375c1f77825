import { resolve } from "node:path"
import type { Config } from "../config/read-config.ts"
import { findCluster } from "../postgres/embedded/running.ts"
import { type OpenServer, openServer, postgresDir } from "../postgres/open-server.ts"
import { prepareDatabase } from "../postgres/schema/prepare-database.ts"

/**
 * Fails if there is no embedded database. With a wrong DATA_DIR, the command would create an empty database there, and the
 * operator would look at the wrong one.
 */
export const checkDatabaseExists = (config: Config): void => {
  if (config.databaseUrl !== undefined || findCluster(postgresDir(config)) !== undefined) return
  throw new Error(
    `DATA_DIR: there is no database in ${resolve(config.dataDir)}. Set DATA_DIR or DATABASE_URL as for the service, ` +
      "or start the service there once, which creates it: npm start",
  )
}

/**
 * Opens the database of DATABASE_URL. If DATABASE_URL is not set, opens the embedded database. The server of the
 * embedded database is started for this command if it is not running. In both cases, the database is migrated to the
 * newest schema.
 */
export const openDatabase = async (config: Config): Promise<OpenServer> => {
  checkDatabaseExists(config)
  const database = await openServer(config)
  try {
    await prepareDatabase(database.address, config.statementTimeoutMs)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
