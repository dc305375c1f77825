import type postgres from "postgres"
import type { DatabaseServer } from "../../config/database-url.ts"
import { toFailure } from "../sql-failures.ts"

/** How long a server may take to answer the search. */
const answerMs = 3000
/**
 * How long the search waits for other servers after one has answered that can replace the current primary. One of them
 * may be a newer primary.
 */
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

/** Waits for the answer of a server for a limited time: a stalled connection reports no error. */
export const inTime = <A>(answer: Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("does not answer")), answerMs).unref()
    answer.then(resolve, reject).finally(() => clearTimeout(late))
  })

/**
 * Reads the history of a primary. The functions are available to every role, but some hosting providers have no WAL; then
 * the server refuses the statement, and the history is unknown. Fails if the connection breaks.
 */
const readHistory = async (sql: postgres.Sql): Promise<History | undefined> => {
  const [row] = await sql
    .unsafe<[History?]>(
      `select (select system_identifier::text from pg_control_system()) as system,
              ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`,
    )
    .catch((error) => {
      if (toFailure(error)._tag !== "SqlRefused") throw error
      return []
    })
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
  try {
    return await inTime(question())
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    return { server, isPrimary: false, reason: message || code || "cannot be reached" }
  } finally {
    sql.end({ timeout: 0 }).catch(() => {})
  }
}

/**
 * Asks all servers at the same time. Returns the answers that arrived when all have answered, or a short time after an
 * answer that `isEnough`, so that a server that is gone does not delay a failover.
 */
export const askServers = async (
  servers: ReadonlyArray<DatabaseServer>,
  open: OpenServer,
  isEnough: (answer: Answer) => boolean,
): Promise<ReadonlyArray<Answer>> => {
  const answers: Array<Answer> = []
  await new Promise<void>((resolve) => {
    for (const server of servers)
      void ask(server, open).then((answer) => {
        answers.push(answer)
        if (answers.length === servers.length) resolve()
        else if (isEnough(answer)) setTimeout(resolve, graceMs)
      })
  })
  return [...answers]
}

/**
 * Chooses the primary with the newest history. A primary that is older than `known` is refused: after a failover it has
 * come back without having become a standby. One without a history is then refused too, because it may be such a server.
 * Of equal ones, `current` is chosen.
 */
export const choosePrimary = (
  answers: ReadonlyArray<Answer>,
  known: History | undefined,
  current: DatabaseServer,
) => {
  const primaries = answers.filter((answer) => answer.isPrimary)
  const newest = primaries.filter(
    ({ history }) =>
      (known === undefined || (history !== undefined && !isOlder(history, known))) &&
      !primaries.some((other) => isOlder(history, other.history)),
  )
  return newest.find(({ server }) => server === current) ?? newest[0]
}

/** One text for each server that is not usable. */
export const reasonsOf = (answers: ReadonlyArray<Answer>): ReadonlyArray<string> =>
  answers.map((answer) => {
    const { name } = answer.server
    if (!answer.isPrimary) return `${name}: ${answer.reason}`
    return answer.history === undefined
      ? `${name}: is a primary whose timeline cannot be read`
      : `${name}: is a primary that was superseded by a promotion`
  })
