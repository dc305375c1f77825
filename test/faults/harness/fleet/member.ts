import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { Build } from "../../../../bench/process/bundle.ts"
import type { Link } from "./link.ts"

const restartPauseMs = 300
const readyPollMs = 50
const readyTimeoutMs = 2_000
const readyLimitMs = 300_000
const tailChars = 500

interface MemberOptions {
  readonly name: string
  readonly port: number
  readonly build: Build
  readonly database: Link
  readonly environment: Readonly<Record<string, string>>
  readonly logFile: string
}

/**
 * One process of the service, or one with workers. Like an orchestrator, it starts the process again when it has
 * ended, unless a fault keeps it down.
 */
export class Member {
  readonly name: string
  readonly url: string
  readonly database: Link
  /** Called when the process ended although no fault had ended it. */
  ownExit: (tail: string) => void = () => {}
  readonly #options: MemberOptions
  readonly #log
  #child: ChildProcess | undefined
  #tail = ""
  #isWanted = false
  #isEnding = false
  #extra: Readonly<Record<string, string>> = {}

  constructor(options: MemberOptions) {
    this.#options = options
    this.name = options.name
    this.url = `http://127.0.0.1:${options.port}`
    this.database = options.database
    this.#log = createWriteStream(options.logFile, { flags: "a" })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Starts the process and keeps it running. `extra` stays in its environment until the next `start`. */
  start(extra: Readonly<Record<string, string>> = {}): void {
    this.#extra = extra
    this.#isWanted = true
    if (this.#child === undefined) this.#spawn()
  }

  async untilReady(): Promise<void> {
    for (const until = Date.now() + readyLimitMs; !(await this.isReady()); await sleep(readyPollMs))
      if (Date.now() > until) throw new Error(`process ${this.name} is not ready: ${this.#tail}`)
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(readyTimeoutMs) })
      await answer.arrayBuffer()
      return answer.status === 200
    } catch {
      return false
    }
  }

  /** Ends the process with this signal. It stays down until `start`. */
  async end(signal: "SIGKILL" | "SIGTERM", withinMs = 60_000): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === undefined) return
    this.#isEnding = true
    const timer = setTimeout(() => child.kill("SIGKILL"), withinMs)
    const exited = once(child, "exit")
    if (signal === "SIGKILL") for (const worker of this.workers()) send(worker, signal)
    child.kill(signal)
    await exited
    clearTimeout(timer)
    this.#isEnding = false
  }

  /** Kills the process because the harness itself ends. */
  abandon(): void {
    this.#isWanted = false
    for (const pid of this.#pids()) send(pid, "SIGKILL")
  }

  stall(): void {
    for (const pid of this.#pids()) send(pid, "SIGSTOP")
  }

  goOn(): void {
    for (const pid of this.#pids()) send(pid, "SIGCONT")
  }

  /** The processes that this process started with WORKERS. */
  workers(): ReadonlyArray<number> {
    const { pid } = this
    if (pid === undefined) return []
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
        .trim()
        .split(" ")
        .filter((child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("main.js"))
        .map(Number)
    } catch {
      return []
    }
  }

  #pids(): ReadonlyArray<number> {
    return this.pid === undefined ? [] : [this.pid, ...this.workers()]
  }

  #spawn(): void {
    const { build, environment } = this.#options
    const program = fileURLToPath(build.program)
    const child = spawn(process.execPath, [...build.nodeFlags, program], {
      cwd: dirname(dirname(program)),
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment, ...this.#extra },
      stdio: ["ignore", "pipe", "pipe"],
    })
    this.#child = child
    for (const output of [child.stdout, child.stderr]) {
      output.pipe(this.#log, { end: false })
      output.on("data", (text) => {
        this.#tail = (this.#tail + text).slice(-tailChars)
      })
    }
    child.once("exit", async () => {
      this.#child = undefined
      if (!this.#isEnding && this.#isWanted) this.ownExit(this.#tail)
      await sleep(restartPauseMs)
      if (this.#isWanted && this.#child === undefined) this.#spawn()
    })
  }
}

export const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
