import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"

/**
 * Locks a directory for this process and returns a function that unlocks it. Errors name the directory as `dataDir`.
 * The kernel holds the lock (flock) and releases it when the process ends for any reason. So there is no stale lock
 * file, a reused pid does no harm, and containers that share a volume see the lock. Node has no flock function. But
 * the lock belongs to the open file, so a short-lived flock(1) process, which inherits the open file, can take the
 * lock for this process.
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
        `DATA_DIR: the data directory ${dataDir} is in use by another running service (process ${holder || "unknown"}). Stop it, or set another DATA_DIR.`,
      )
    }
    if (code !== 0) throw new Error(`data directory ${dataDir} cannot be locked: flock exited with ${code}`)
    ftruncateSync(file)
    writeSync(file, `${process.pid}\n`, 0)
    return () => closeSync(file)
  } catch (error) {
    closeSync(file)
    throw error
  }
}
