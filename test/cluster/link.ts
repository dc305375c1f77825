import { readFileSync } from "node:fs"
import type { Sql } from "postgres"
import { type LeaseRow, leaseStatement, type SendLeaseCall } from "../../src/cluster/member-store.ts"
import { postgresTransport } from "../../src/cluster/transport-postgres.ts"
import { connectTo } from "./postgres-server.ts"

const channel = "bus_test"

/** Creates the table and the functions of the cluster in a database that has nothing else. */
export const createCluster = async (admin: Sql) => {
  for (const file of ["0023_cluster_members.sql", "functions/cluster.sql"])
    await admin.unsafe(readFileSync(new URL(`../../schema/sql/${file}`, import.meta.url), "utf8")).simple()
}

/** The transport and the lease of a process, as `openTransport` makes them for the service. */
export const linkTo = (directory: string, name: string, silenceMs: number) => {
  const transport = postgresTransport({
    connect: (options) => connectTo(directory, name, options),
    channel,
    silenceMs,
  })
  const call: SendLeaseCall = async (kind, request) => {
    const [row] = await transport.run<ReadonlyArray<LeaseRow>>(
      (q) => leaseStatement(q, kind, request) as never,
    )
    return row?.view ?? null
  }
  return { transport, call }
}
