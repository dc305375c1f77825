import type { Config } from "../config/config.ts"
import { type OpenServer, openServer } from "../postgres/open-server.ts"
import { prepareDatabase } from "../postgres/prepare-database.ts"

/**
 * Opens the database of DATABASE_URL. If DATABASE_URL is not set, opens the embedded database. The server of the
 * embedded database is started for this command if it is not running. In both cases, the database is migrated to the
 * newest schema.
 */
export const openDatabase = async (config: Config): Promise<OpenServer> => {
  const database = await openServer(config)
  try {
    await prepareDatabase(database.address, config.statementTimeoutMs)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}
