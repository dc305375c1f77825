import postgres from "postgres"
import { sessionSettings } from "../config/database-session-settings.ts"
import type { DatabaseServer } from "../config/database-url.ts"
import { followedDatabase } from "./failover/followed-database.ts"
import { arrayTypes } from "./sql-arrays.ts"

export type DatabaseAddress =
  | { readonly url: string }
  | { readonly socketDir: string; readonly port: number; readonly database: string }

export interface SqlOptions {
  readonly connection: DatabaseAddress
  readonly poolSize: number
  readonly statementTimeoutMs: number
  /** Further options of the client, for connections with a special purpose. */
  readonly client?: postgres.Options<Record<string, never>>
}

export type Client = postgres.Sql
/** A part of a statement. The template tag of the client creates it. */
export type SqlPiece = postgres.PendingQuery<postgres.Row[]>
/** Returns the name of a column as a part of a statement. */
export const column = (q: Client, name: string): SqlPiece => q`${q(name)}`
const isoTimestamp = {
  to: 1184,
  from: [1184],
  serialize: (value: string | Date) => (typeof value === "string" ? value : value.toISOString()),
  parse: (text: string) => new Date(text).toISOString(),
}
const safeBigint = { to: 20, from: [20], serialize: String, parse: Number }

export const connect = (options: SqlOptions): Client => {
  const settings = {
    max: options.poolSize,
    connect_timeout: 5,
    max_lifetime: null,
    onnotice: () => {},
    ...options.client,
    fetch_types: false,
    types: { isoTimestamp, safeBigint, ...arrayTypes } as never,
    connection: {
      ...options.client?.connection,
      application_name: "emoji-id-directory",
      ...sessionSettings(options.statementTimeoutMs),
    },
  }
  if ("url" in options.connection) {
    const database = followedDatabase(options.connection.url)
    const { options: urlOptions, url } = database.current
    // With this setting in its startup message, a standby refuses the connection. So a server that has become a standby
    // after the search is not used.
    const guard = database.needsPrimary ? { transaction_read_only: "off" } : {}
    const connection = { ...settings.connection, ...guard }
    return database.track(postgres(url, { ...settings, connection, ...urlOptions } as typeof settings))
  }
  const { database, port, socketDir: host } = options.connection
  return postgres({ ...settings, host, port, user: "postgres", database })
}

/** Opens a client for one question to a server, which can be a standby. */
export const openServer = ({ options, url }: DatabaseServer): Client =>
  postgres(url, {
    ...options,
    max: 1,
    connect_timeout: 2,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "emoji-id-directory", statement_timeout: 3000 },
  } as unknown as postgres.Options<Record<string, never>>) as Client

export const databaseOf = (address: DatabaseAddress) =>
  "url" in address ? followedDatabase(address.url) : undefined

/** Finds the primary before the first connection is opened. Throws if no server is one. */
export const findPrimary = async (address: DatabaseAddress): Promise<void> => {
  const database = databaseOf(address)
  if (!database?.needsPrimary) return
  const found = await database.search(openServer)
  if ("server" in found) return
  throw new Error(`DATABASE_URL: no server is the primary: ${found.reasons.join("; ")}`)
}
