import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

const findRoot = (folder: string): string =>
  existsSync(join(folder, "package.json")) || folder === dirname(folder) ? folder : findRoot(dirname(folder))

/** The folder of the project, for the source and for the bundle. */
export const projectRoot = findRoot(import.meta.dirname)
