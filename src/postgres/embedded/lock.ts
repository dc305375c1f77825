import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"

/**
 * Claims a directory, which the operator knows as `dataDir`, for this process. The lock is the kernel's (flock), so it
 * ends with the process, however that dies: there is no stale state, no reused pid, and containers that share a volume
 * see it too. Node has no flock, but the lock belongs to the open file, which we share with the short-lived flock(1).
 */
export const lockDirectory = async (dir: string, dataDir: string): Promise<() => void> => {
  const path = join(dir, "lock")
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  try {
    const flock = spawn("flock", ["--nonblock", "3"], { stdio: ["ignore", "ignore", "ignore", file] })
    const [code] = await once(flock, "exit")
    if (code === 1) {
      const holder = readFileSync(path, "utf8").trim()
      throw new Error(
        `data directory ${dataDir} is in use by another running service (process ${holder || "unknown"})`,
      )
    }
    if (code !== 0) throw new Error(`data directory ${dataDir} cannot be locked: flock ended with ${code}`)
    ftruncateSync(file)
    writeSync(file, `${process.pid}\n`, 0)
    return () => closeSync(file)
  } catch (error) {
    closeSync(file)
    throw error
  }
}
