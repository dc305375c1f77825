import { accessSync, constants, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isDirectory()) throw new Error(`${path} is not a folder`)
  return found !== undefined
}

/**
 * Creates a folder and its missing parents. Returns the topmost folder that was created, or undefined if the folder
 * existed. `mkdirSync` with `recursive` is not used: it never returns if the system reports ENOENT for a new name, as
 * in /proc.
 */
export const makeFolder = (path: string): string | undefined => {
  const parent = dirname(path)
  // The parent is checked first: if it is a file, the system reports an error for every path below it.
  const firstMade = parent === path ? undefined : makeFolder(parent)
  if (isFolder(path)) return undefined
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have created the folder after the check. That is not an error.
    if (!isFolder(path)) throw new Error(`cannot create ${path}: ${(error as Error).message}`)
    return firstMade
  }
  return firstMade ?? path
}

/**
 * Creates a folder of DATA_DIR, as `makeFolder` does, and checks that this process may write to it. Errors name the
 * setting.
 */
export const makeDataFolder = (path: string): string | undefined => {
  const problem = (what: string) =>
    new Error(`DATA_DIR: ${what}. Set a folder that this user can create and write.`)
  let made: string | undefined
  try {
    made = makeFolder(path)
  } catch (error) {
    throw problem((error as Error).message)
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch {
    throw problem(`user id ${process.geteuid?.()} may not write to ${path}`)
  }
  return made
}
