import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

const findRoot = (folder: string): string =>
  existsSync(join(folder, "package.json")) || folder === dirname(folder) ? folder : findRoot(dirname(folder))

/** The project's folder, whether this runs from its source or from the bundle made of it. */
export const projectRoot = findRoot(import.meta.dirname)
