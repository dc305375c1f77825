import { type Client, connect, type DatabaseAddress } from "../postgres/client.ts"

/** The longest time that Postgres accepts. The client does not send 0, and then a setting of the role would apply. */
const noLimitMs = 2 ** 31 - 1

/** Runs statements on one connection. They may take any time. */
export const withClient = async <A>(
  address: DatabaseAddress,
  use: (sql: Client) => Promise<A>,
): Promise<A> => {
  const sql = connect({ connection: address, poolSize: 1, statementTimeoutMs: noLimitMs })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
