import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a folder and its parents. Returns the first folder that was created. `mkdirSync` with `recursive` never
 * returns if the system reports ENOENT for a new name, as in /proc.
 */
export const makeFolder = (path: string): string | undefined => {
  if (isFolder(path)) return undefined
  const firstMade = makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw new Error(`cannot create ${path}: ${(error as Error).message}`)
    return firstMade
  }
  return firstMade ?? path
}
