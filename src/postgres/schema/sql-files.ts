import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { productVersion } from "../../config/product-version.ts"
import { projectRoot } from "../../config/project-root.ts"

export interface SqlFile {
  readonly name: string
  readonly text: string
  readonly sha256: string
}

/** A version of the service as a list of its numbers. Postgres stores and compares it as an integer array. */
export type Release = ReadonlyArray<number>

/** The folder with the SQL files of one version of the service. */
export interface Schema {
  readonly folder: string
  readonly release: Release
}

const read = (folder: string, prefix = ""): ReadonlyArray<SqlFile> =>
  readdirSync(join(folder, prefix))
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, prefix, file), "utf8")
      return { name: prefix + file, text, sha256: createHash("sha256").update(text).digest("hex") }
    })

/**
 * Reads the migrations, which create tables, indexes and initial rows. A file is never changed after its release;
 * changes need a new file.
 */
export const migrationFiles = ({ folder }: Schema): ReadonlyArray<SqlFile> => read(folder)

/**
 * Reads the files that create functions and triggers. Unlike a migration, such a file is edited when its functions
 * change.
 */
export const functionFiles = ({ folder }: Schema): ReadonlyArray<SqlFile> => read(folder, "functions/")

export const currentSchema: Schema = {
  folder: join(projectRoot, "schema/sql"),
  release: productVersion.split(/[.-]/, 3).map(Number),
}
