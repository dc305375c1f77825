import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a folder and its missing parents. Returns the topmost folder that was created, or undefined if the folder
 * existed. `mkdirSync` with `recursive` is not used: it never returns if the system reports ENOENT for a new name, as
 * in /proc.
 */
export const makeFolder = (path: string): string | undefined => {
  if (isFolder(path)) return undefined
  const firstMade = makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have created the folder after the check. That is not an error.
    if (!isFolder(path)) throw new Error(`cannot create ${path}: ${(error as Error).message}`)
    return firstMade
  }
  return firstMade ?? path
}
