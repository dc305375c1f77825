import { Data } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import { isWriteFailure } from "./write-failures.ts"

/** Postgres refused the statement: a constraint, or a fact raised by one of our functions. */
export class SqlRefused extends Data.TaggedError("SqlRefused")<{
  /** For the log: what was refused, and nothing of what was sent. */
  readonly message: string
  readonly sqlstate: string
  readonly constraint: string
  readonly detail: string
  readonly hint: string
}> {}

const lostConnection = new Set(["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"])
// Said only of a connection that could not be opened.
const unopened = new Set(["CONNECT_TIMEOUT", "ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN"])
// What a server says before it ends a connection it had opened.
const ending = /^57P0[125]$/
// What the operating system says of the way there: ECONNREFUSED, EHOSTUNREACH, EAI_AGAIN, EMFILE …
const systemError = /^E(?!RR_)[A-Z_]+$/
// Connection trouble, a login or a database the server does not know (now), resources, operator intervention, its disk,
// rollback for others' sake, a server that became a standby: none is the request's fault.
const passing = /^(08|28|3D|40|53|57|58|25006)/

/** What took too long once would take as long again, and hold up others: it is not tried again. */
const tookTooLong = new Unavailable({ error: "The database took too long.", retryAfterSeconds: 5 })
/**
 * A deadlock, writers that cannot be put in order, or a lock that an operator's `lock_timeout` lets nobody wait for any
 * longer: the database has undone all of it, for others' sake.
 */
const undone = new Unavailable({ error: "The database is too busy.", retryAfterSeconds: 1 })
/** The statement was never sent. */
export const unreached = new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 })
export const noWrites = new Unavailable({
  error: "The database takes no writes at present.",
  retryAfterSeconds: 5,
})
/** Our own statement_timeout, and an operator's transaction_timeout (from Postgres 17 on). */
const tookTooLongStates = new Set(["57014", "25P04"])
const undoneStates = new Set(["40001", "40P01", "55P03"])
export const mayPass = (failure: Unavailable | SqlRefused): failure is Unavailable =>
  failure._tag === "Unavailable" && failure !== tookTooLong

export const isUndone = (failure: Unavailable | SqlRefused): failure is Unavailable =>
  failure === undone || failure === unreached

interface Told {
  readonly code?: string
  readonly constraint_name?: string
  readonly detail?: string
  readonly hint?: string
  readonly severity?: string
  readonly table_name?: string
}
const toldBy = (error: unknown): Told => (error ?? {}) as Told

/** It was sent, and the connection ended before the answer. */
export const isBroken = (error: unknown): boolean => {
  const { code = "" } = toldBy(error)
  return code === "CONNECTION_CLOSED" || (systemError.test(code) && !unopened.has(code))
}

/** What a failed statement means for who sent it. */
export const toFailure = (error: unknown): Unavailable | SqlRefused => {
  const { code = "", constraint_name, detail, hint, severity, table_name } = toldBy(error)
  if (tookTooLongStates.has(code)) return tookTooLong
  if (undoneStates.has(code)) return undone
  if (isWriteFailure(code)) return noWrites
  if (unopened.has(code) || (severity === "FATAL" && !ending.test(code))) return unreached
  if (lostConnection.has(code) || systemError.test(code) || passing.test(code)) {
    return new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 })
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
