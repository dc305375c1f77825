import { spawn } from "node:child_process"
import { once } from "node:events"
import { constants, existsSync, fstatSync, type Stats, statSync } from "node:fs"
import { type FileHandle, open, rename, rm } from "node:fs/promises"
import { dirname, resolve } from "node:path"

/** Takes an exclusive lock that the kernel releases when the file is closed. See `lockDirectory` for the use of flock(1). */
const takeLock = async (file: FileHandle): Promise<boolean> => {
  const flock = spawn("flock", ["--nonblock", "3"], { stdio: ["ignore", "ignore", "ignore", file.fd] })
  const [code] = await once(flock, "exit")
  return code === 0
}

const isSame = (one: Stats, other: Stats | undefined): boolean =>
  other !== undefined && one.ino === other.ino && one.dev === other.dev

export interface PartialFile {
  readonly handle: FileHandle
  /** Flushes the file and gives it its name. */
  readonly finish: () => Promise<void>
  readonly discard: () => Promise<void>
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, "r")
  await folder.sync().finally(() => folder.close())
}

/**
 * Opens `path.partial` for a new file. The file gets its name when it is complete, so a file with this name is always
 * complete. The lock distinguishes a file that another process writes from one that a killed process has left behind,
 * which is used again. An existing file is only replaced with `replace`.
 */
export const openPartialFile = async (
  path: string,
  { replace }: { readonly replace: boolean },
): Promise<PartialFile> => {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw new Error(`The folder ${folder} does not exist.`)
  const partial = `${path}.partial`
  const handle = await open(partial, constants.O_RDWR | constants.O_CREAT, 0o600)
  const discard = async () => {
    await rm(partial, { force: true })
    await handle.close()
  }
  const isOurs =
    (await takeLock(handle)) && isSame(fstatSync(handle.fd), statSync(partial, { throwIfNoEntry: false }))
  if (!isOurs) {
    await handle.close()
    throw new Error(`Another backup is writing ${partial}.`)
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !(replace && found.isFile())) {
    await discard()
    throw new Error(
      found.isFile()
        ? `${path} exists. Choose another name, or replace the file with --force.`
        : `${path} exists and is not a file.`,
    )
  }
  await handle.truncate(0)
  await handle.chmod(0o600)
  return {
    handle,
    discard,
    finish: async () => {
      await handle.sync()
      await rename(partial, path)
      await syncFolder(folder)
      await handle.close()
    },
  }
}
