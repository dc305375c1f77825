import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { projectRoot } from "../project-root.ts"

const folder = join(projectRoot, "schema/sql")

interface Migration {
  readonly name: string
  readonly text: string
  readonly sha256: string
}

const migrations = (): ReadonlyArray<Migration> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8")
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") }
    })

// One number for every node of this service: whoever comes second waits for the first. An index of much takes its time.
const begin =
  "set local statement_timeout = 0; set local lock_timeout = 0; select pg_advisory_xact_lock(730214906);"

/**
 * A migration that waits for a table, which a dump or a forgotten session may keep for hours, has everybody wait behind it who
 * wants to write there: a service of the version before, all of whose requests would fail. So it soon lets them go first.
 */
const lockWait = "set local lock_timeout = '2s';"
const pauseMs = 1000
const lockNotAvailable = "55P03"
const deadlock = "40P01"

const apply = async (sql: postgres.Sql, { name, sha256, text }: Migration): Promise<void> => {
  for (let tries = 1; ; tries++) {
    try {
      await sql
        .unsafe(
          `${begin}
           insert into migration (name, sha256) values ('${name}', '${sha256}');
           ${lockWait}
           ${text}`,
        )
        .simple()
      return
    } catch (error) {
      const [now] = await sql`select 1 from migration where name = ${name}`
      if (now !== undefined) return
      const { code } = error as { code?: string }
      if (code !== lockNotAvailable && code !== deadlock) throw error
      if (tries === 1) console.error(`${name} waits for a table that another session holds locked`)
      await sleep(pauseMs)
    }
  }
}

/** Brings the database to the newest schema. Each file is one simple query, so it applies whole or not at all. */
export const migrate = async (sql: postgres.Sql): Promise<ReadonlyArray<string>> => {
  await sql
    .unsafe(
      `${begin}
       create table if not exists migration (name text primary key, sha256 text not null, at timestamptz not null default now());`,
    )
    .simple()
  const applied: Array<string> = []
  for (const migration of migrations()) {
    const { name, sha256 } = migration
    const [row] = await sql<[{ sha256: string }?]>`select sha256 from migration where name = ${name}`
    if (row === undefined) {
      await apply(sql, migration)
      applied.push(name)
    } else if (row.sha256 !== sha256) {
      throw new Error(`migration ${name} was changed after it was applied to this database`)
    }
  }
  return applied
}

/** What the database has that this program does not know: a newer version served it before. */
export const findNewer = async (sql: postgres.Sql): Promise<ReadonlyArray<string>> => {
  const known = migrations().map(({ name }) => name)
  const rows = await sql<
    { name: string }[]
  >`select name from migration where name <> all(${known}) order by name`
  return rows.map(({ name }) => name)
}
