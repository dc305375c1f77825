import { join } from "node:path"
import { Redacted } from "effect"
import type { Config } from "../../config/read-config.ts"
import { type DatabaseFacts, diagnoseDatabase } from "../../postgres/checks/diagnose.ts"
import type { DatabaseAddress } from "../../postgres/client.ts"
import { findRunningPostgres } from "../../postgres/embedded/running.ts"
import { checkDatabaseExists } from "../database.ts"
import { type Finding, failed, failedStart, ok, warning } from "./finding.ts"

/** Tokens are checked with the clock of this machine, deadlines with that of the database. A smaller difference has no effect. */
const noticedMs = 1000
/** The time for which codes of authenticator apps are valid. */
const wrongMs = 30_000
/** See `connectionsBesidePool` in start.ts. */
const connectionsBesidePool = 7

const clock = ({ accuracyMs, aheadMs }: DatabaseFacts): Finding => {
  const away = Math.abs(aheadMs) - accuracyMs
  const text = `the clock of the database is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine`
  const advice = "Synchronise the clocks of all machines with NTP."
  if (away > wrongMs) return failed("clock", text, advice)
  return away > noticedMs
    ? warning("clock", text, advice)
    : ok("clock", "the clocks of this machine and the database agree within a second")
}

const migrations = ({ isEmpty, newer, pending }: DatabaseFacts): Finding => {
  const check = "migrations"
  if (isEmpty) return ok(check, "the database is empty; the first start creates the schema")
  if (newer.length > 0)
    return warning(
      check,
      `a newer version has used the database: ${newer.join(", ")}`,
      "Only the release directly before that version can still use it; start the newer version.",
    )
  return pending.length === 0
    ? ok(check, "the database has the schema of this version")
    : warning(
        check,
        `${pending.length} not applied yet: ${pending.join(", ")}`,
        "Make a backup; the next start of this version applies them.",
      )
}

const rights = (
  { isSuperuser, mayCreateTemporary, database, role }: DatabaseFacts,
  isOwn: boolean,
): Finding => {
  const check = "rights"
  if (!mayCreateTemporary)
    return warning(
      check,
      `the role "${role}" may not create temporary tables, so a full disk is noticed late`,
      `Run: grant temporary on database "${database}" to "${role}".`,
    )
  return isSuperuser && isOwn
    ? warning(
        check,
        `the role "${role}" is a superuser`,
        "Use a role that owns only this database: alter role … nosuperuser.",
      )
    : ok(check, `the role "${role}" may create what the service needs`)
}

const connections = (facts: DatabaseFacts, { poolSize, workers }: Config): Finding => {
  const needed = workers * (poolSize + connectionsBesidePool)
  const text = `the service needs up to ${needed} connections per machine; the server allows ${facts.maxConnections}, ${facts.usedConnections} are in use`
  return needed <= facts.maxConnections
    ? ok("connections", text)
    : failed("connections", text, "Raise max_connections, or lower WORKERS or POOL_SIZE.")
}

const durability = ({ fsync }: DatabaseFacts): ReadonlyArray<Finding> =>
  fsync
    ? []
    : [failed("durability", "fsync is off: a power failure can destroy the database", "Set fsync = on.")]

/** The address of the database, or the finding why there is none. Nothing is started. */
export const locate = (
  config: Config,
): { readonly address: DatabaseAddress } | { readonly problem: Finding } => {
  if (config.databaseUrl !== undefined) return { address: { url: Redacted.value(config.databaseUrl) } }
  try {
    checkDatabaseExists(config)
  } catch (error) {
    return { problem: failedStart("database", error) }
  }
  const running = findRunningPostgres(join(config.dataDir, "postgres"))
  return running === undefined
    ? {
        problem: failed(
          "database",
          "the embedded Postgres does not run, so the database was not checked",
          "Start the service, and run this command beside it.",
        ),
      }
    : { address: { ...running, database: "postgres" } }
}

export const checkDatabase = async (config: Config): Promise<ReadonlyArray<Finding>> => {
  const located = locate(config)
  if ("problem" in located) return [located.problem]
  const { address } = located
  try {
    const facts = await diagnoseDatabase(address, config.statementTimeoutMs)
    const isOwn = "url" in address
    return [
      ok(
        "database",
        `Postgres ${facts.version} answers, database "${facts.database}", encoding ${facts.encoding}`,
      ),
      rights(facts, isOwn),
      migrations(facts),
      clock(facts),
      connections(facts, config),
      ...(isOwn ? durability(facts) : []),
    ]
  } catch (error) {
    return [failedStart("database", error)]
  }
}
