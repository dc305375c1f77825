import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Makes a folder and those above it, and answers the first one made. Node's own way to do so never comes back where the
 * system takes no new names and says that there is no such file, as in /proc.
 */
export const makeFolder = (path: string): string | undefined => {
  if (isFolder(path)) return undefined
  const firstMade = makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw new Error(`${path} cannot be made: ${(error as Error).message}`)
    return firstMade
  }
  return firstMade ?? path
}
