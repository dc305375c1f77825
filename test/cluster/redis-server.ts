import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { redisBinary, untilUp } from "../fixtures/servers/redis.ts"

export const startRedis = async (more: ReadonlyArray<string> = []) => {
  const directory = mkdtempSync("/tmp/bus-redis-")
  const url = join(directory, "redis.sock")
  let server: ChildProcess
  const start = async (flagsNow = more) => {
    const flags = ["--port", "0", "--unixsocket", url, "--save", "", "--dir", directory, ...flagsNow]
    server = spawn(redisBinary!, flags, { stdio: ["ignore", "ignore", "inherit"] })
    await untilUp(server, { path: url })
  }
  await start()
  return {
    url,
    start,
    signal: (signal: "SIGSTOP" | "SIGCONT") => server.kill(signal),
    kill: async () => {
      server.kill("SIGKILL")
      await once(server, "exit")
    },
    remove: () => {
      server.kill("SIGKILL")
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
