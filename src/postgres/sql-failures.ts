import { Data } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import { waitedTooLong } from "./request-time.ts"
import { isWriteFailure } from "./write-failures.ts"

/** Postgres rejected the statement, because it violates a constraint or one of our functions raised an exception. */
export class SqlRefused extends Data.TaggedError("SqlRefused")<{
  /** The text for the log. It contains no values of the statement. */
  readonly message: string
  readonly sqlstate: string
  readonly constraint: string
  readonly detail: string
  readonly hint: string
}> {}

const lostConnection = new Set(["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"])
// Error codes that mean that a connection could not be opened.
const unopened = new Set(["CONNECT_TIMEOUT", "ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN"])
// SQLSTATEs that a server sends before it closes a connection that was in use.
const ending = /^57P0[125]$/
// Error codes of the operating system, mostly of the network: ECONNREFUSED, EHOSTUNREACH, EAI_AGAIN, EMFILE …
const systemError = /^E(?!RR_)[A-Z_]+$/
// SQLSTATEs of temporary errors that the request did not cause: a lost connection, an unknown login or database, a
// rollback because of other transactions, missing resources, an intervention of the operator, a disk error, a server
// that became a standby.
const temporary = /^(08|28|3D|40|53|57|58|25006)/

/**
 * The failure of a statement that exceeded its time limit. It is not retried: it would take as long again and delay
 * other statements.
 */
const tookTooLong = new Unavailable({
  error: "The database statement timed out. Retry later.",
  retryAfterSeconds: 5,
})
/**
 * The failure after a deadlock, a serialization failure, or an operator's `lock_timeout`. The database has rolled
 * back the statement, so it can be retried.
 */
const undone = new Unavailable({ error: "The database is busy. Retry later.", retryAfterSeconds: 1 })
/**
 * The failure of a statement that was never sent, because the database refused the connection or was not reachable.
 */
export const unreached = new Unavailable({
  error: "The database is not reachable. Retry later.",
  retryAfterSeconds: 1,
})
export const noWrites = new Unavailable({
  error: "The database does not accept writes at the moment. Retry later.",
  retryAfterSeconds: 5,
})
/** SQLSTATEs of our own `statement_timeout`, and of an operator's `transaction_timeout` (Postgres 17 and newer). */
const tookTooLongStates = new Set(["57014", "25P04"])
const undoneStates = new Set(["40001", "40P01", "55P03"])
export const mayPass = (failure: Unavailable | SqlRefused): failure is Unavailable =>
  failure._tag === "Unavailable" && failure !== tookTooLong && failure !== waitedTooLong

export const isUndone = (failure: Unavailable | SqlRefused): failure is Unavailable =>
  failure === undone || failure === unreached

interface PostgresError {
  readonly code?: string
  readonly constraint_name?: string
  readonly detail?: string
  readonly hint?: string
  readonly severity?: string
  readonly table_name?: string
}
const detailsOf = (error: unknown): PostgresError => (error ?? {}) as PostgresError

/** Whether the connection broke after the statement was sent and before its result arrived. */
export const isBroken = (error: unknown): boolean => {
  const { code = "" } = detailsOf(error)
  return code === "CONNECTION_CLOSED" || (systemError.test(code) && !unopened.has(code))
}

/** Whether the server rejected a write because it is a standby or read-only. */
export const isReadOnly = (error: unknown): boolean => detailsOf(error).code === "25006"

/**
 * Whether the statement may have been committed although it failed, or may still be. A server that reports an error of
 * the statement has rolled it back, except when it ends the connection.
 */
export const isOutcomeUnknown = (error: unknown): boolean => {
  const { code = "", severity } = detailsOf(error)
  if (unopened.has(code)) return false
  if (severity === "FATAL") return ending.test(code)
  return lostConnection.has(code) || systemError.test(code) || /^08/.test(code) || ending.test(code)
}

/**
 * Converts the error of a statement into the failure that the caller gets. Throws the error if it is a mistake in the
 * program.
 */
export const toFailure = (error: unknown): Unavailable | SqlRefused => {
  const { code = "", constraint_name, detail, hint, severity, table_name } = detailsOf(error)
  if (tookTooLongStates.has(code)) return tookTooLong
  if (undoneStates.has(code)) return undone
  if (isWriteFailure(code)) return noWrites
  if (unopened.has(code) || (severity === "FATAL" && !ending.test(code))) return unreached
  if (lostConnection.has(code) || systemError.test(code) || temporary.test(code)) {
    return new Unavailable({ error: "The database is not reachable. Retry later.", retryAfterSeconds: 1 })
  }
  if (/^[0-9A-Z]{5}$/.test(code)) {
    return new SqlRefused({
      message: [code, constraint_name ?? table_name].filter(Boolean).join(" "),
      sqlstate: code,
      constraint: constraint_name ?? "",
      detail: detail ?? "",
      hint: hint ?? "",
    })
  }
  throw error
}
