import { join } from "node:path"
import { Redacted } from "effect"
import type { Config } from "../config/read-config.ts"
import type { DatabaseAddress } from "./client.ts"
import { startEmbeddedPostgres } from "./embedded/embedded.ts"
import { findRunningPostgres } from "./embedded/running.ts"

export interface OpenServer {
  readonly address: DatabaseAddress
  close(): Promise<void>
}

/** The folder of the embedded Postgres. */
export const postgresDir = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "postgres")

/**
 * Returns the server of DATABASE_URL. If DATABASE_URL is not set, returns the embedded server, which is started if it is
 * not running. `close` stops the server only if it was started here. Nothing is migrated.
 */
export const openServer = async (config: Config): Promise<OpenServer> => {
  if (config.databaseUrl !== undefined)
    return { address: { url: Redacted.value(config.databaseUrl) }, close: async () => {} }
  const dataDir = postgresDir(config)
  const running = findRunningPostgres(dataDir)
  if (running !== undefined) return { address: { ...running, database: "postgres" }, close: async () => {} }
  const started = await startEmbeddedPostgres({
    dataDir,
    ...(config.pgBin === undefined ? {} : { pgBin: config.pgBin }),
  })
  const { port, socketDir } = started
  return { address: { socketDir, port, database: "postgres" }, close: () => started.stop() }
}
