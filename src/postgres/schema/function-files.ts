import type postgres from "postgres"
import { begin, lockWait, retryLocked } from "./migration-lock.ts"
import { functionFiles, type Release, type Schema, type SqlFile } from "./sql-files.ts"

interface Stored {
  readonly name: string
  readonly sha256: string
  readonly release: string
  readonly is_newer: boolean
}

const literal = (release: Release): string => `{${release.join()}}`

const readStored = (sql: postgres.Sql, release: Release) =>
  sql<Stored[]>`select name, sha256, release::text, release > ${literal(release)}::text::int[] as is_newer
                  from function_file order by name`

const fingerprint = (rows: ReadonlyArray<Stored>): string =>
  rows.map(({ name, release, sha256 }) => `${name} ${sha256} ${release}`).join()

/**
 * Returns the SQL that creates the changed functions in one transaction, so that no process sees some of them new and
 * some old. It fails if another process changed functions after `stored` was read.
 */
const replaceFunctions = (
  stored: ReadonlyArray<Stored>,
  files: ReadonlyArray<SqlFile>,
  changed: ReadonlyArray<SqlFile>,
  release: Release,
) => `${begin}
  do $guard$ begin
    if '${fingerprint(stored)}' <> (
         select coalesce(string_agg(concat_ws(' ', name, sha256, release::text), ',' order by name), '') from function_file) then
      raise exception 'another process changed the functions';
    end if;
  end $guard$;
  insert into function_file (name, sha256, release)
  values ${files.map(({ name, sha256 }) => `('${name}', '${sha256}', '${literal(release)}')`).join()}
  on conflict (name) do update set sha256 = excluded.sha256, release = excluded.release, at = now();
  ${lockWait}
  -- Functions call each other, so no order of creation would pass the check of every body. A test checks the bodies.
  set local check_function_bodies = off;
  ${changed.map(({ text }) => text).join("\n")}`

/**
 * Re-creates the functions of every file that changed, and returns the names of these files. If the database has
 * functions of a newer release, nothing is changed: a process of an older release must not replace them while newer
 * processes use them.
 */
export const applyFunctions = async (sql: postgres.Sql, schema: Schema): Promise<ReadonlyArray<string>> => {
  const { release } = schema
  const files = functionFiles(schema)
  for (;;) {
    const stored = await readStored(sql, release)
    if (stored.some(({ is_newer }) => is_newer)) return []
    const find = (file: SqlFile) => stored.find(({ name }) => name === file.name)
    const changed = files.filter((file) => find(file)?.sha256 !== file.sha256)
    if (files.every((file) => find(file)?.release === literal(release)) && changed.length === 0) return []
    const names = changed.map(({ name }) => name)
    let isOutdated = false
    await retryLocked(
      names.join(", "),
      () => sql.unsafe(replaceFunctions(stored, files, changed, release)).simple(),
      async () => {
        isOutdated = fingerprint(await readStored(sql, release)) !== fingerprint(stored)
        return isOutdated
      },
    )
    if (!isOutdated) return names
  }
}

/**
 * Returns the release whose functions the database has, if it is newer than the given release; otherwise undefined.
 */
export const findNewerRelease = async (sql: postgres.Sql, release: Release): Promise<string | undefined> => {
  const newer = (await readStored(sql, release)).filter(({ is_newer }) => is_newer)
  return newer[0]?.release.replaceAll(/[{}]/g, "").replaceAll(",", ".")
}
