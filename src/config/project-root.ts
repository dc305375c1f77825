import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

const findRoot = (folder: string): string =>
  existsSync(join(folder, "package.json")) || folder === dirname(folder) ? folder : findRoot(dirname(folder))

/**
 * The folder of the project: the nearest parent folder with a package.json. It is the same for the source files and
 * for the bundle.
 */
export const projectRoot = findRoot(import.meta.dirname)
