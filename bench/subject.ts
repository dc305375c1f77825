import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { DatabaseAddress } from "../src/postgres/client.ts"
import { BenchFailure } from "./failure.ts"
import { type Target, targetOfUrl, urlOfTarget } from "./load/request.ts"
import { type Build, buildService, serviceNodeFlags } from "./process/bundle.ts"
import { type Child, startChild } from "./process/child.ts"
import { makeDirectory, removeDirectory } from "./process/directory.ts"
import { findFreePort } from "./process/port.ts"
import type { ServerSide } from "./side.ts"

const healthyWithinSeconds = 60
const pollMs = 50
const postgresPort = 5432

/**
 * The secret keys of the measured service. They are fixed, so that the bench can sign access tokens and webhooks
 * itself.
 */
const secretKeys = `bench:${Buffer.alloc(32, "bench").toString("base64url")}`

/**
 * The service as `npm start` runs it, with an empty data directory. `env` sets further environment variables, for
 * example `WORKERS`.
 */
export function service(
  name = "service",
  env: Readonly<Record<string, string>> = {},
  build: () => Build = () => ({ program: buildService(), nodeFlags: serviceNodeFlags() }),
): ServerSide {
  return {
    kind: "server",
    name,
    isService: true,
    start: async () => {
      const directory = await makeDirectory()
      const port = await findFreePort()
      const target: Target = { side: name, host: "127.0.0.1", port, tls: false, basePath: "" }
      const settings = {
        PORT: String(port),
        HOST: "127.0.0.1",
        BASE_URL: urlOfTarget(target, ""),
        DATA_DIR: directory,
        SECRET_KEYS: secretKeys,
        DEMO: "false",
        RATE_LIMIT: "off",
        // This is the same lifetime as that of the tokens that stored/people.ts signs.
        ACCESS_TOKEN_SECONDS: "86400",
        LOG_LEVEL: "Warn",
        ...env,
      }
      let child: Child | undefined
      const start = async () => {
        const { nodeFlags, program } = build()
        child = startChild(program, { env: settings, nodeFlags })
        await untilHealthy(target, child)
      }
      const stop = async () => {
        await child?.stop()
        await removeDirectory(directory)
      }
      try {
        await start()
      } catch (error) {
        await stop()
        throw error
      }
      return {
        target,
        get pid() {
          return child?.pid ?? 0
        },
        database: {
          socketDir: join(directory, "postgres/cluster"),
          port: postgresPort,
          database: "postgres",
        },
        secretKeys,
        restart: async () => {
          await child?.stop()
          await start()
        },
        stop,
      }
    },
  }
}

export interface Access {
  readonly database?: DatabaseAddress
  readonly secretKeys?: string
}

/** A service that is already running. The bench cannot measure its CPU and memory use. */
export const serviceAt = (url: URL, access: Access = {}): ServerSide => ({
  kind: "server",
  name: "service",
  isService: true,
  start: async () => {
    const target = targetOfUrl("service", url)
    await untilHealthy(target)
    return { target, ...access, stop: async () => {} }
  },
})

async function untilHealthy(target: Target, child?: Child): Promise<void> {
  const health = urlOfTarget(target, "/health")
  const deadlineMs = performance.now() + (child === undefined ? 5 : healthyWithinSeconds) * 1000
  let last = ""
  while (performance.now() < deadlineMs) {
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
  throw new BenchFailure(`${health} did not return 200 in time (${last})`)
}
