import type postgres from "postgres"
import { applyFunctions, findNewerRelease } from "./function-files.ts"
import { begin, lockWait, retryLocked } from "./migration-lock.ts"
import { currentSchema, migrationFiles, type Schema, type SqlFile } from "./sql-files.ts"

const isApplied = async (sql: postgres.Sql, name: string): Promise<boolean> => {
  const [row] = await sql`select 1 from migration where name = ${name}`
  return row !== undefined
}

/** Applies one migration. The file is sent as one simple query, so it is applied completely or not at all. */
const apply = (sql: postgres.Sql, { name, sha256, text }: SqlFile): Promise<void> =>
  retryLocked(
    name,
    () =>
      sql
        .unsafe(
          `${begin}
           insert into migration (name, sha256) values ('${name}', '${sha256}');
           ${lockWait}
           ${text}`,
        )
        .simple(),
    () => isApplied(sql, name),
  )

/**
 * Creates the tables that record which files were applied: `migration`, and `function_file` with the release of each
 * file.
 */
const createTables = (sql: postgres.Sql) =>
  sql
    .unsafe(
      `${begin}
       create table if not exists migration (name text primary key, sha256 text not null, at timestamptz not null default now());
       create table if not exists function_file (
         name text primary key, sha256 text not null, release int[] not null, at timestamptz not null default now());`,
    )
    .simple()

/**
 * Throws if the database was created by a version before 0.2.0, which had other migrations with similar names. The
 * first migration file (`baseline`) is recorded only in databases of 0.2.0 and newer versions.
 */
const rejectBeforeBaseline = async (sql: postgres.Sql, baseline: string): Promise<void> => {
  const [found] = await sql<[{ names: number; has_baseline: boolean }]>`
    select count(*)::int as names, coalesce(bool_or(name = ${baseline}), false) as has_baseline from migration`
  if (found.names === 0 || found.has_baseline) return
  throw new Error(
    "This database was created by a version before 0.2.0, which cannot be upgraded. " +
      "Set DATABASE_URL to an empty database, or without DATABASE_URL remove the folder DATA_DIR (.data), and start again.",
  )
}

/** Returns the names of the applied migrations that this build does not have. */
const findUnknown = async (
  sql: postgres.Sql,
  migrations: ReadonlyArray<SqlFile>,
): Promise<ReadonlyArray<string>> => {
  const known = migrations.map(({ name }) => name)
  const rows = await sql<
    { name: string }[]
  >`select name from migration where name <> all(${known}) order by name`
  return rows.map(({ name }) => name)
}

/**
 * Migrates the database to the newest schema and returns the names of the files that were applied. If the database has
 * migrations that this build does not have, a newer build uses it, and its functions stay: they may need these
 * migrations.
 */
export const migrate = async (
  sql: postgres.Sql,
  schema: Schema = currentSchema,
): Promise<ReadonlyArray<string>> => {
  const migrations = migrationFiles(schema)
  await createTables(sql)
  await rejectBeforeBaseline(sql, migrations[0]?.name ?? "")
  const applied: Array<string> = []
  for (const migration of migrations) {
    const { name, sha256 } = migration
    const [row] = await sql<[{ sha256: string }?]>`select sha256 from migration where name = ${name}`
    if (row === undefined) {
      await apply(sql, migration)
      applied.push(name)
    } else if (row.sha256 !== sha256) {
      throw new Error(`migration ${name} was changed after it was applied to this database`)
    }
  }
  if ((await findUnknown(sql, migrations)).length > 0) return applied
  return [...applied, ...(await applyFunctions(sql, schema))]
}

/**
 * Returns what a newer version has added to the database: migrations that this version does not know, and the release
 * of the functions. Returns an empty list if no newer version has used the database.
 */
export const findNewer = async (
  sql: postgres.Sql,
  schema: Schema = currentSchema,
): Promise<ReadonlyArray<string>> => {
  const unknown = await findUnknown(sql, migrationFiles(schema))
  const release = await findNewerRelease(sql, schema.release)
  return [...unknown, ...(release === undefined ? [] : [`release ${release}`])]
}
