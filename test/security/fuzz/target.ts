import { randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type postgres from "postgres"
import { findOffences } from "../../faults/ownership-oracle.ts"
import type { Target } from "./lane.ts"

/** The settings of a service that is fuzzed. The secrets are random, so that they can be searched in responses. */
export const targetSettings = () => {
  const secretKeys = `fuzz:${randomBytes(32).toString("base64url")}`
  const mintKey = randomBytes(32).toString("hex")
  const password = `admin-${randomBytes(9).toString("base64url")}`
  return {
    environment: {
      SECRET_KEYS: secretKeys,
      MINT_KEY: mintKey,
      ADMIN_EMAIL: "root@fuzz.example",
      ADMIN_PASSWORD: password,
      DEMO: "true",
      RATE_LIMIT: "off",
    },
    facts: {
      admin: { email: "root@fuzz.example", password },
      secretKeys,
      secrets: [secretKeys.slice(5), mintKey, password],
    } satisfies Partial<Target>,
  }
}

/** Reads the address of the embedded Postgres of a program from the file that Postgres itself writes. */
export const databaseOf = (dataDir: string) => {
  const file = join(dataDir, "postgres/cluster/postmaster.pid")
  if (!existsSync(file)) throw new Error("the embedded Postgres is not running")
  const [, , , port = "", socketDir = ""] = readFileSync(file, "utf8").split("\n")
  return { socketDir, port: Number(port), database: "postgres" }
}

/** The invariants that must hold after any requests, in addition to those of ownership. */
const counted: Readonly<Record<string, string>> = {
  "ledger lines that do not sum to zero": "select 1 from ledger_line having coalesce(sum(cents), 0) <> 0",
  "an order whose money is not balanced": "select 1 where ledger_audit() <> 0",
  "a code used more often than allowed": "select 1 from code where uses > max_uses",
  "a user with more free ids than allowed": "select 1 from app_user where free_used > free_limit",
}

/** Returns the violations of the invariants of the database. */
export const findDamage = async (sql: postgres.Sql): Promise<ReadonlyArray<string>> => {
  const found = [...(await findOffences(sql))]
  for (const [name, query] of Object.entries(counted))
    if ((await sql.unsafe(query)).length > 0) found.push(name)
  return found
}
