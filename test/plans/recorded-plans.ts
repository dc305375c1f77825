import { createReadStream } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Sql } from "postgres"
import { connect, type DatabaseAddress } from "../../src/postgres/client.ts"

/** A node of a plan, with the names that `explain (analyze, format json)` gives them. */
export interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Recheck Cond"?: string
  readonly Filter?: string
  readonly "Plan Rows": number
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** A statement that the database has run, with the plan that it used and the rows that each node has read. */
export interface RecordedPlan {
  readonly text: string
  readonly plan: PlanNode
  /** The function and the line that contain the statement. Undefined if a client sent it. */
  readonly within: string | undefined
  /** When the statement ended: milliseconds since 1970. */
  readonly endedAt: number
}

interface LogLine {
  readonly timestamp: string
  readonly dbname?: string
  readonly message?: string
  readonly context?: string
}

const settings = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_parameter_max_length": "0",
  track_functions: "all",
  // A sequential scan of 15,000 rows costs as much as one of a million, so the planner chooses as in a large database.
  seq_page_cost: "60",
  // Statistics of a tenth of the rows are made in a tenth of the time.
  default_statistics_target: "5",
}

/**
 * Makes the sessions of this database log the plan of every statement, also of those inside functions and triggers. It
 * has an effect for sessions that begin afterwards.
 */
export const recordPlans = async (
  database: DatabaseAddress & { readonly database: string },
): Promise<void> => {
  const sql = connect({ connection: database, poolSize: 1, statementTimeoutMs: 60_000 })
  for (const [name, value] of Object.entries(settings))
    await sql.unsafe(`alter database ${database.database} set ${name} = '${value}'`)
  await sql.end()
}

/** Connects to a database whose plans are recorded. The plans of this connection are not. */
export const connectUnrecorded = (connection: DatabaseAddress): Sql =>
  connect({
    connection,
    poolSize: 2,
    statementTimeoutMs: 60_000,
    client: { connection: { "auto_explain.log_min_duration": "-1" } as never },
  })

const toPlan = ({ context, message = "", timestamp }: LogLine): RecordedPlan | undefined => {
  if (!/^duration: [\d.]+ ms {2}plan:\n/.test(message)) return undefined
  const { "Query Text": text, Plan: plan } = JSON.parse(message.slice(message.indexOf("\n"))) as {
    readonly "Query Text": string
    readonly Plan: PlanNode
  }
  return { text, plan, within: context, endedAt: Date.parse(timestamp) }
}

/** Returns the plans of the statements that have ended since the given time. */
export const readPlans = async (
  sql: Sql,
  database: string,
  since: number,
): Promise<ReadonlyArray<RecordedPlan>> => {
  const [log] = await sql<[{ directory: string; file: string }]>`
    select current_setting('data_directory') as directory, pg_current_logfile('jsonlog') as file`
  const plans: Array<RecordedPlan> = []
  for await (const text of createInterface({ input: createReadStream(join(log.directory, log.file)) })) {
    // The log has lines of other databases too. Most lines are long, and only those of this database are parsed.
    if (!text.includes(`"dbname":"${database}"`)) continue
    const line = JSON.parse(text) as LogLine
    if (Date.parse(line.timestamp) < since) continue
    const plan = toPlan(line)
    if (plan !== undefined) plans.push(plan)
  }
  return plans
}

/**
 * Returns a function that says whether a function was called. Postgres counts the calls of ended sessions, except of SQL
 * functions that the planner replaced by their body: a statement then contains their name.
 */
export const readCalls = async (sql: Sql, plans: ReadonlyArray<RecordedPlan>) => {
  const counted = await sql<Array<{ funcname: string }>>`select funcname from pg_stat_user_functions`
  const called = new Set(counted.map(({ funcname }) => funcname))
  const texts = [...new Set(plans.map(({ text }) => text))].join("\n")
  return (name: string): boolean => called.has(name) || texts.includes(`${name}(`)
}
