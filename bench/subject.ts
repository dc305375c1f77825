import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { BenchFailure } from "./failure.ts"
import { type Target, targetOfUrl, urlOfTarget } from "./load/request.ts"
import { type Child, startChild } from "./process/child.ts"
import { makeDirectory, removeDirectory } from "./process/directory.ts"
import type { ServerSide } from "./side.ts"

const program = new URL("../src/main.ts", import.meta.url)
const healthyWithinSeconds = 60
const pollMs = 50

/** Our service, started from the source on a fresh directory. `env` makes a variant of it, for instance two workers. */
export function service(name = "service", env: Readonly<Record<string, string>> = {}): ServerSide {
  return {
    kind: "server",
    name,
    isService: true,
    start: async () => {
      const directory = await makeDirectory()
      const port = await findFreePort()
      const child = startChild(program, {
        env: {
          PORT: String(port),
          HOST: "127.0.0.1",
          DATA_DIR: directory,
          RATE_LIMIT: "off",
          LOG_LEVEL: "Warn",
          ...env,
        },
      })
      const stop = async () => {
        await child.stop()
        await removeDirectory(directory)
      }
      const target: Target = { side: name, host: "127.0.0.1", port, tls: false, basePath: "" }
      try {
        await untilHealthy(target, child)
      } catch (error) {
        await stop()
        throw error
      }
      return { target, pid: child.pid, stop }
    },
  }
}

/** A service that somebody else started; what it costs its machine stays unknown. */
export const serviceAt = (url: URL): ServerSide => ({
  kind: "server",
  name: "service",
  isService: true,
  start: async () => {
    const target = targetOfUrl("service", url)
    await untilHealthy(target)
    return { target, stop: async () => {} }
  },
})

async function untilHealthy(target: Target, child?: Child): Promise<void> {
  const health = urlOfTarget(target, "/health")
  const giveUpAtMs = performance.now() + (child === undefined ? 5 : healthyWithinSeconds) * 1000
  let last = ""
  while (performance.now() < giveUpAtMs) {
    if (child?.hasEnded())
      throw new BenchFailure(`the service ended before it was healthy: ${child.outputTail()}`)
    try {
      const answer = await fetch(health, { signal: AbortSignal.timeout(2_000) })
      await answer.arrayBuffer()
      if (answer.status === 200) return
      last = `status ${answer.status}`
    } catch (error) {
      last = error instanceof Error ? String(error.cause ?? error.message) : String(error)
    }
    await sleep(pollMs)
  }
  throw new BenchFailure(`${health} did not answer 200 in time (${last})`)
}

/** The server shares its port with others that ask for it, so a free one has to be found beforehand. */
async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === "string") throw new BenchFailure("no free port")
  return address.port
}
