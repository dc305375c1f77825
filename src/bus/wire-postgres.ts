import type { Sql } from "postgres"
import type { Wire } from "./wire.ts"

/** NOTIFY refuses a payload of 8000 bytes. */
const MAX_BYTES = 7_999

/**
 * LISTEN and NOTIFY. Give it a client of its own, so that a busy pool does not delay heartbeats: `max: 2` (a spare when one
 * connection hangs), and `synchronous_commit: off`, since a notification need not outlive the server.
 */
export const postgresWire = (sql: Sql, channel: string): Wire => ({
  maxBytes: MAX_BYTES,
  publish: async (payload) => {
    await sql`select pg_notify(${channel}, ${payload})`
  },
  open: async ({ onMessage, onUp }) => {
    const { unlisten } = await sql.listen(channel, onMessage, onUp)
    return { close: unlisten }
  },
})
