import { execFile, spawnSync } from "node:child_process"
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

const sizeMb = 1536
const run = promisify(execFile)
const block = Buffer.alloc(1024 * 1024)

/** The disk of the database. Only a disk of its own can be filled. */
export interface Disk {
  readonly path: string
  /** Whether the disk is a file system of its own. That needs root and the permission to mount. */
  readonly isOwn: boolean
  /** Fills the disk, so that the next write of the database fails. */
  fill(): void
  free(): void
  remove(): Promise<void>
  /** Removes the file system at the end of this process. */
  abandon(): void
}

export const makeDisk = async (path: string): Promise<Disk> => {
  mkdirSync(path, { recursive: true })
  const isOwn = await run("mount", ["-t", "tmpfs", "-o", `size=${sizeMb}m,mode=0755`, "faults", path]).then(
    () => true,
    () => false,
  )
  chmodSync(path, 0o755)
  const ballast = join(path, "ballast")
  return {
    path,
    isOwn,
    fill: () => {
      if (!isOwn) return
      const file = openSync(ballast, "w")
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    abandon: () => {
      if (isOwn) spawnSync("umount", ["-l", path])
    },
    remove: async () => {
      if (isOwn) await run("umount", ["-l", path]).catch(() => {})
      rmSync(path, { recursive: true, force: true })
    },
  }
}
