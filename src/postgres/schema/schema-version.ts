import { Effect } from "effect"
import { Sql } from "../sql.ts"
import { currentSchema, migrationFiles } from "./sql-files.ts"

const withoutEnding = (name: string): string => name.replace(/\.sql$/, "")

/** The newest migration of this build, for example `0026_views`. */
export const schemaOfBuild = withoutEnding(migrationFiles(currentSchema).at(-1)?.name ?? "")

/**
 * The newest migration of the database: it is newer than that of the build if a newer release has used the database.
 */
export const schemaOfDatabase = Sql.use((sql) =>
  Effect.map(
    sql.rows<{ name: string }>((q) => q`select name from migration order by name desc limit 1`),
    ([row]) => withoutEnding(row?.name ?? ""),
  ),
)
