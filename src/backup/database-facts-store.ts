import type { Client } from "../postgres/client.ts"
import type { BackupHeader, NeededKey } from "./archive/manifest.ts"

/** Whether the database contains the tables of the service. */
const hasTables = async (sql: Client): Promise<boolean> => {
  const [row] = await sql<[{ found: boolean }]>`
    select to_regclass('migration') is not null and to_regclass('function_file') is not null as found`
  return row.found
}

/**
 * Reads which master keys the stored values need. A key that encrypts custodial keys comes with one of them, so that a
 * restore can try to decrypt it. Values of the second factors and signing keys only name their key.
 */
export const readNeededKeys = async (sql: Client): Promise<ReadonlyArray<NeededKey>> => {
  const sampled = await sql<Array<{ id: string; pubkey: string; sealed_key: string }>>`
    with recursive secret as (
      select min(split_part(sealed_key, '.', 2)) as id from pubkey where sealed_key is not null
      union all
      select (select min(split_part(k.sealed_key, '.', 2)) from pubkey k
               where k.sealed_key is not null and split_part(k.sealed_key, '.', 2) > s.id)
        from secret s where s.id is not null
    )
    select s.id, k.pubkey, k.sealed_key
      from secret s cross join lateral (
        select pubkey, sealed_key from pubkey
         where sealed_key is not null and split_part(sealed_key, '.', 2) = s.id limit 1) k`
  const others = await sql<Array<{ id: string }>>`
    select distinct split_part(coalesce(sealed_secret, sealed_phone), '.', 2) as id from two_factor
     where coalesce(sealed_secret, sealed_phone) is not null`
  // A backup before an upgrade is of a database that does not have this table yet.
  const [known] = await sql<[{ found: boolean }]>`select to_regclass('signing_key') is not null as found`
  if (known.found)
    others.push(
      ...(await sql<
        Array<{ id: string }>
      >`select distinct split_part(sealed_key, '.', 2) as id from signing_key`),
    )
  const named = new Set(others.map(({ id }) => id))
  return [
    ...sampled.map(({ id, ...sample }) => ({ id, sample })),
    ...[...named].filter((id) => !sampled.some((one) => one.id === id)).map((id) => ({ id })),
  ]
}

/** Reads what the header of a backup says about the database. Throws if it is not a database of the service. */
export const readDatabaseFacts = async (
  sql: Client,
): Promise<Pick<BackupHeader, "bytes" | "needed_keys" | "postgres_major" | "schema">> => {
  if (!(await hasTables(sql)))
    throw new Error(
      "The database does not contain the tables of the service, so there is nothing to back up.",
    )
  const [facts] = await sql<[{ name: string; major: number; release: Array<number> | null; bytes: number }]>`
    select current_schema() as name, current_setting('server_version_num')::int / 10000 as major,
           (select to_jsonb(max(release)) from function_file) as release,
           pg_database_size(current_database()) as bytes`
  const migrations = await sql<Array<{ name: string }>>`select name from migration order by name`
  return {
    postgres_major: facts.major,
    bytes: Number(facts.bytes),
    schema: {
      name: facts.name,
      migrations: migrations.map(({ name }) => name),
      release: facts.release ?? [],
    },
    needed_keys: await readNeededKeys(sql),
  }
}

/** The current time of the database. */
export const readClock = async (sql: Client): Promise<string> => {
  const [row] = await sql<[{ at: string }]>`select clock_timestamp() as at`
  return row.at
}

/** The folder of the cluster. */
export const readDataDirectory = async (sql: Client): Promise<string> => {
  const [row] = await sql<[{ folder: string }]>`select current_setting('data_directory') as folder`
  return row.folder
}

/** Throws unless the database is empty and unused. Tables of extensions do not count. */
export const checkEmptyDatabase = async (sql: Client): Promise<void> => {
  const found = await sql<Array<{ name: string }>>`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
       and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     order by 1 limit 3`
  if (found.length > 0)
    throw new Error(
      `The database of DATABASE_URL is not empty: it contains ${found.map(({ name }) => name).join(", ")}. A restore does not overwrite data. Create an empty database (createdb NAME) and set DATABASE_URL to it.`,
    )
  const [others] = await sql<[{ count: number }]>`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name = 'emoji-id-directory'`
  if (others.count > 0)
    throw new Error(
      "The service is connected to the database of DATABASE_URL. Stop it, and run the command again.",
    )
}

/** The major version of the server. */
export const readMajor = async (sql: Client): Promise<number> => {
  const [row] = await sql<[{ major: number }]>`
    select current_setting('server_version_num')::int / 10000 as major`
  return row.major
}
