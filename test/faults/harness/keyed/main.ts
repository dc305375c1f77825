import { startTestService } from "../../../fixtures/test-service.ts"
import type { FleetPostgres } from "../fleet/postgres.ts"
import { table } from "../report/table.ts"
import { type KeyedRow, keyedRows } from "./keyed-routes.ts"
import { type KeyedResult, keyedService, runKeyed } from "./run-keyed.ts"

/** Runs every keyed route with a kill after its commit, in a database of its own. Returns the results. */
export const runAllKeyed = async (
  postgres: FleetPostgres,
  fits: (row: KeyedRow) => boolean,
  say: (line: string) => void,
): Promise<ReadonlyArray<KeyedResult>> => {
  const database = { url: `postgres://postgres@127.0.0.1:${postgres.port}/postgres` }
  const service = await startTestService({}, { database, ...keyedService })
  const results: Array<KeyedResult> = []
  try {
    const rows = keyedRows(service).filter(fits)
    for (const row of rows) {
      const result = await runKeyed(service, row).catch(
        (error: Error): KeyedResult => ({ name: row.name, status: 0, faults: [error.message] }),
      )
      results.push(result)
      for (const fault of result.faults) say(`VIOLATION of 5, ${row.name}: ${fault}`)
    }
    return results
  } finally {
    await service.stop()
  }
}

/** The table of the keyed routes. */
export const keyedReport = (results: ReadonlyArray<KeyedResult>): string =>
  table(
    ["keyed route", "status", "after a kill between commit and answer"],
    results.map(({ faults, name, status }) => [
      name,
      String(status),
      faults.length === 0 ? "same answer, one effect" : `${faults.length} violations`,
    ]),
  )
