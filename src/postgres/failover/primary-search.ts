import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import type { DatabaseServer } from "../../config/database-url.ts"

/** How long a server may take to answer the search. */
const answerMs = 3000
/** How long the search waits for other servers after a primary has answered. One of them may be a newer primary. */
const graceMs = 300

/**
 * Identifies what a primary has written. Servers of one cluster have the same system identifier, and each promotion begins
 * a new timeline with a higher number.
 */
export interface History {
  readonly system: string
  readonly timeline: number
}

export type Answer = { readonly server: DatabaseServer } & (
  | { readonly isPrimary: true; readonly history: History | undefined }
  | { readonly isPrimary: false; readonly reason: string }
)

export type OpenServer = (server: DatabaseServer) => postgres.Sql

/** Whether `one` was superseded by the promotion that began `other`. False if it cannot be known. */
export const isOlder = (one: History | undefined, other: History | undefined): boolean =>
  one !== undefined && other !== undefined && one.system === other.system && one.timeline < other.timeline

/**
 * Reads the history of a primary. The functions are available to every role, but some hosting providers have no WAL; then
 * the history is unknown.
 */
const readHistory = async (sql: postgres.Sql): Promise<History | undefined> => {
  const [row] = await sql
    .unsafe<[History?]>(
      `select (select system_identifier::text from pg_control_system()) as system,
              ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`,
    )
    .catch(() => [])
  return row
}

/**
 * Gives live channels a new epoch if the database is not the one of the last start: a standby was promoted, or a backup was
 * restored. Events may be lost then, and their offsets are assigned again.
 */
export const followTimeline = async (q: postgres.Sql, history?: History): Promise<void> => {
  const found = history ?? (await readHistory(q))
  if (found !== undefined) await q`select follow_timeline(${found.system}, ${found.timeline})`
}

const ask = async (server: DatabaseServer, open: OpenServer): Promise<Answer> => {
  const sql = open(server)
  const question = async (): Promise<Answer> => {
    const [row] = await sql.unsafe<[{ standby: boolean }]>("select pg_is_in_recovery() as standby")
    return row.standby
      ? { server, isPrimary: false, reason: "is a standby" }
      : { server, isPrimary: true, history: await readHistory(sql) }
  }
  const late = sleep(answerMs, undefined, { ref: false }).then(
    (): Answer => ({
      server,
      isPrimary: false,
      reason: "does not answer",
    }),
  )
  try {
    return await Promise.race([question(), late])
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    return { server, isPrimary: false, reason: message || code || "cannot be reached" }
  } finally {
    sql.end({ timeout: 0 }).catch(() => {})
  }
}

/**
 * Asks all servers at the same time. Returns the answers that arrived when all have answered, or a short time after a
 * primary has answered, so that a server that is gone does not delay the search.
 */
export const askServers = async (
  servers: ReadonlyArray<DatabaseServer>,
  open: OpenServer,
): Promise<ReadonlyArray<Answer>> => {
  const answers: Array<Answer> = []
  await new Promise<void>((resolve) => {
    for (const server of servers)
      void ask(server, open).then((answer) => {
        answers.push(answer)
        if (answers.length === servers.length) resolve()
        else if (answer.isPrimary) setTimeout(resolve, graceMs)
      })
  })
  return [...answers]
}

/**
 * Chooses the primary with the newest history. A primary that is older than `known` is refused: after a failover it has
 * come back without having become a standby. Of equal ones, `current` is chosen.
 */
export const choosePrimary = (
  answers: ReadonlyArray<Answer>,
  known: History | undefined,
  current: DatabaseServer,
) => {
  const primaries = answers.filter((answer) => answer.isPrimary)
  const newest = primaries.filter(
    ({ history }) => !isOlder(history, known) && !primaries.some((other) => isOlder(history, other.history)),
  )
  return newest.find(({ server }) => server === current) ?? newest[0]
}

/** One text for each server that is not usable. */
export const reasonsOf = (answers: ReadonlyArray<Answer>): ReadonlyArray<string> =>
  answers.map((answer) =>
    answer.isPrimary
      ? `${answer.server.name}: is a primary that was superseded by a promotion`
      : `${answer.server.name}: ${answer.reason}`,
  )
