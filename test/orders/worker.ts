import { fork } from "node:child_process"
import { join } from "node:path"
import type { DatabaseAddress } from "../../src/store/sql.ts"
import { freePort } from "../fixtures/program.ts"

const root = join(import.meta.dirname, "../..")
const program = join(root, "dist/main.js")

export interface Worker {
  readonly url: string
  readonly exited: Promise<NodeJS.Signals | null>
  kill(): Promise<void>
  /** Stopped in its tracks, and let go on. */
  stall(): void
  goOn(): void
}

/** The service as a process of its own on a test's database, to be killed. */
export const startWorker = async (
  database: DatabaseAddress,
  environment: Record<string, string> = {},
): Promise<Worker> => {
  const port = await freePort()
  const child = fork(program, {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: {
      // Nothing of the runner's own environment: it sets names the service reads.
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      DEMO: "false",
      HOST: "127.0.0.1",
      PORT: String(port),
      // The issuer of tokens: the same as that of the services in the test.
      BASE_URL: "http://localhost:3001",
      LOG_LEVEL: "Fatal",
      RATE_LIMIT: "off",
      SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString("base64url")}`,
      WORKER_OF: JSON.stringify(database),
      ...environment,
    },
  })
  const exited = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once("exit", (_, signal) => resolve(signal))
  })
  await new Promise<void>((ready, failed) => {
    child.on("message", (message) => message === "ready" && ready())
    void exited.then(() => failed(new Error("the worker stopped before it was ready")))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    exited,
    kill: async () => {
      child.kill("SIGKILL")
      await exited
    },
    stall: () => void child.kill("SIGSTOP"),
    goOn: () => void child.kill("SIGCONT"),
  }
}
