import type { Sql } from "postgres"
import { targetOfUrl } from "../../bench/load/request.ts"
import { storeEveryTable } from "../../bench/stored/every-table.ts"
import { createDatabase } from "../fixtures/database.ts"
import { freePort } from "../fixtures/free-port.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { targetSettings } from "../security/fuzz/target.ts"
import { connectUnrecorded, recordPlans } from "./recorded-plans.ts"

/**
 * The rows of each table that can grow. With fewer, a statement that reads all rows would not differ from one that reads a
 * full batch; the planner's choices are the same with more.
 */
const rows = 15_000

export interface DrivenService {
  readonly service: TestService
  /** Another process on the same database. */
  readonly second: TestService
  readonly database: string
  /** A connection whose statements are not recorded. */
  readonly sql: Sql
  /** Serves as the target of the journeys of the fuzzer. */
  readonly target: ReturnType<typeof targetSettings>["facts"] & { readonly port: number }
  /** When the second process was started: milliseconds since 1970. The tables were full by then. */
  readonly since: number
}

/** Starts a service, stores `rows` rows in every table that can grow, and starts a second process. */
export const startDriven = async (): Promise<DrivenService> => {
  const database = await createDatabase()
  if (!("database" in database)) throw new Error("the tests have an embedded Postgres")
  const { environment, facts } = targetSettings()
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  await recordPlans(database)
  const service = await serve(
    { ...environment, PORT: String(port), BASE_URL: baseUrl },
    { database, peersPossible: true, preparesData: true },
  )
  const target = targetOfUrl("service", new URL(baseUrl))
  await storeEveryTable({ target, database, secretKeys: facts.secretKeys, stop: async () => {} }, rows)
  const since = Date.now()
  const second = await serve(
    { ...environment, RATE_LIMIT: "on", BASE_URL: baseUrl },
    { database, peersPossible: true, preparesData: true },
  )
  const sql = connectUnrecorded(database)
  cleanUp(() => sql.end())
  return { service, second, sql, database: database.database, target: { ...facts, port }, since }
}
