import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { sessionSettings } from "../../config/database-session-settings.ts"
import { connect, type SqlOptions } from "../client.ts"
import { clusterName } from "../embedded/orphans.ts"

/** How long to wait for a notification. Without a pooler, a notification arrives immediately. */
const notificationMs = 2500

/** The first answer takes longer than this only if something else than Postgres listens, or a proxy without a server. */
const firstAnswerMs = 10_000
/** The oldest supported version, as Postgres numbers it. */
const leastVersion = 150_000

const unsuitable = (what: string) => new Error(`DATABASE_URL: ${what}`)

/** The text of the problem, or undefined if the service can use this version of Postgres. */
export const versionProblem = (number: number, name: string): string | undefined =>
  number >= leastVersion
    ? undefined
    : `Postgres ${name} is too old. The service needs version ${leastVersion / 10_000} or newer`

/**
 * Waits for the first answer for a limited time. If the server closes the connection before it has sent anything, the
 * client (postgres 3.4.9) connects again and again and reports no error.
 */
const firstAnswer = <A>(answer: Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(Object.assign(new Error("no answer"), { code: "CONNECT_TIMEOUT" })),
      firstAnswerMs,
    )
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })

/**
 * Whether a pooler rejected a session setting. PgBouncer rejects each setting that is not in its
 * `ignore_startup_parameters`.
 */
const isRefusedSetting = ({ message }: Error): boolean => /unsupported startup parameter/.test(message)

const readSettings = async (sql: postgres.Sql, names: ReadonlyArray<string>) => {
  const list = names.map((name) => `'${name}'`).join()
  const rows = await sql
    .unsafe<Array<{ name: string; setting: string }>>(
      `select name, setting from pg_settings
        where name in (${list}, 'server_encoding', 'server_version', 'server_version_num')`,
    )
    .simple()
  return new Map(rows.map(({ name, setting }) => [name, setting]))
}

/**
 * Checks that the session has our settings, because a pooler may reject or drop them. Without them, the service would
 * give wrong results.
 */
const checkSession = async (sql: postgres.Sql, statementTimeoutMs: number): Promise<void> => {
  const expected = Object.entries(sessionSettings(statementTimeoutMs)).map(
    ([k, v]) => [k, String(v)] as const,
  )
  const found = await firstAnswer(
    readSettings(
      sql,
      expected.map(([name]) => name),
    ),
  ).catch((error: Error) => {
    if (!isRefusedSetting(error)) throw error
    throw unsuitable(
      `the pooler rejects a session setting: "${error.message}"; see docs/operating.md for the settings of a pooler`,
    )
  })
  const outdated = versionProblem(Number(found.get("server_version_num")), found.get("server_version") ?? "")
  if (outdated !== undefined) throw unsuitable(outdated)
  const encoding = found.get("server_encoding")
  if (encoding !== "UTF8")
    throw unsuitable(
      `the encoding of the database is ${encoding}, but emoji require UTF8. Create another database: ` +
        "create database NAME owner ROLE encoding 'UTF8' template template0",
    )
  // Only the part before the comma is compared: the value of DateStyle has a second part, as in "ISO, MDY".
  const wrong = expected.find(([name, value]) => found.get(name)?.split(",")[0] !== value)
  if (wrong === undefined) return
  const [name, value] = wrong
  throw unsuitable(
    `${name} is '${found.get(name)}' instead of '${value}', because a pooler drops the setting: set it with ` +
      `alter role … set ${name} = '${value}'`,
  )
}

/** Checks that the role may create objects, because each start creates the functions that have changed. */
const checkRights = async (sql: postgres.Sql): Promise<void> => {
  const [{ database, may_create, role, schema }] = await sql<
    [{ database: string; may_create: boolean | null; role: string; schema: string | null }]
  >`select current_database() as database, current_user as role, current_schema() as schema,
           has_schema_privilege(current_schema(), 'create') as may_create`
  if (may_create) return
  const name = schema ?? "public"
  throw unsuitable(
    `the role "${role}" may not create objects in the schema "${name}" of the database "${database}". ` +
      `Run as its owner: grant usage, create on schema "${name}" to "${role}"`,
  )
}

/**
 * Checks that notifications arrive, because the processes of the service use them to inform each other. A pooler in
 * transaction mode loses notifications.
 */
const checkNotifications = async (sql: postgres.Sql): Promise<void> => {
  const channel = `directory_${randomBytes(9).toString("hex")}`
  let onNotification = (): void => {}
  const received = new Promise<true>((resolve) => {
    onNotification = () => resolve(true)
  })
  await sql.listen(channel, onNotification)
  await sql.unsafe(`notify ${channel}`).simple()
  if (await Promise.race([received, sleep(notificationMs, false)])) return
  throw unsuitable("notifications do not arrive: set the pooler to session mode, or connect without it")
}

/**
 * Throws if the database is the embedded Postgres of another service. That service expects no other writers, so its
 * caches would become stale.
 */
const checkShared = async (sql: postgres.Sql): Promise<void> => {
  const [found] = await sql<[{ cluster: string; name: string }]>`
    select current_setting('cluster_name') as cluster, current_database() as name`
  if (found.cluster !== clusterName || found.name !== "postgres") return
  throw unsuitable("this is the embedded Postgres of another service, which cannot be shared")
}

/**
 * Throws if the service would not work completely with the operator's database, or with the pooler in front of it.
 * `serves` is true if this process will serve requests.
 */
export const checkPreflight = async (
  options: SqlOptions,
  { serves = false }: { readonly serves?: boolean } = {},
): Promise<void> => {
  const sql = connect(options)
  try {
    await checkSession(sql, options.statementTimeoutMs)
    if (serves) await checkShared(sql)
    await checkRights(sql)
    await checkNotifications(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
