import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { sessionSettings } from "../config/database-session-settings.ts"
import { clusterName } from "./embedded/orphans.ts"
import { connect, type SqlOptions } from "./sql.ts"

/** For a notification to come back; it is there at once, or never. */
const hearMs = 2500

const unfit = (what: string) => new Error(`DATABASE_URL: ${what}`)

/** PgBouncer's refusal of a setting that it was not told to ignore. */
const isRefusedSetting = ({ message }: Error): boolean => /unsupported startup parameter/.test(message)

const readSettings = async (sql: postgres.Sql, names: ReadonlyArray<string>) => {
  const list = names.map((name) => `'${name}'`).join()
  const rows = await sql
    .unsafe<Array<{ name: string; setting: string }>>(
      `select name, setting from pg_settings where name in (${list}, 'server_encoding')`,
    )
    .simple()
  return new Map(rows.map(({ name, setting }) => [name, setting]))
}

/** A pooler in between may refuse or drop what a session is started with. Without these nothing here would be right. */
const checkSession = async (sql: postgres.Sql, statementTimeoutMs: number): Promise<void> => {
  const asked = Object.entries(sessionSettings(statementTimeoutMs)).map(([k, v]) => [k, String(v)] as const)
  const found = await readSettings(
    sql,
    asked.map(([name]) => name),
  ).catch((error: Error) => {
    if (!isRefusedSetting(error)) throw error
    throw unfit(`the pooler says "${error.message}"; the README says how to put one before Postgres`)
  })
  const encoding = found.get("server_encoding")
  if (encoding !== "UTF8") throw unfit(`the database's encoding is ${encoding}, and emoji need UTF8`)
  // More than was asked for may be told: "ISO, MDY".
  const lost = asked.find(([name, value]) => found.get(name)?.split(",")[0] !== value)
  if (lost === undefined) return
  const [name, value] = lost
  throw unfit(
    `${name} is '${found.get(name)}' and not '${value}' as asked for: a pooler drops it, so set it with ` +
      `alter role … set ${name} = '${value}'`,
  )
}

/** Processes tell each other so what they changed. A pooler that lends connections out for less than a session loses it. */
const checkNotifications = async (sql: postgres.Sql): Promise<void> => {
  const channel = `directory_${randomBytes(9).toString("hex")}`
  let isHeard = (): void => {}
  const heard = new Promise<true>((resolve) => {
    isHeard = () => resolve(true)
  })
  await sql.listen(channel, isHeard)
  await sql.unsafe(`notify ${channel}`).simple()
  if (await Promise.race([heard, sleep(hearMs, false)])) return
  throw unfit("notifications do not arrive: a pooler has to be in session mode, or left out")
}

/** A service that started its Postgres itself asks nobody before it serves what it remembers. */
const checkShared = async (sql: postgres.Sql): Promise<void> => {
  const [found] = await sql<[{ cluster: string; name: string }]>`
    select current_setting('cluster_name') as cluster, current_database() as name`
  if (found.cluster !== clusterName || found.name !== "postgres") return
  throw unfit("this is the embedded Postgres of a service, which shares it with no other")
}

/** Stops the start at an operator's database, or a way to it, on which the service would only half work. */
export const checkPreflight = async (
  options: SqlOptions,
  { serves = false }: { readonly serves?: boolean } = {},
): Promise<void> => {
  const sql = connect(options)
  try {
    await checkSession(sql, options.statementTimeoutMs)
    if (serves) await checkShared(sql)
    await checkNotifications(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
