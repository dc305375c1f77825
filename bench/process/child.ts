import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { BenchFailure } from "../failure.ts"
import { bundleProgram } from "./bundle.ts"

const exitWithParent = new URL("./exit-with-parent.ts", import.meta.url)
/** The folders in which children look for programs. */
export const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
const outputTailChars = 4_000
const stopGraceSeconds = 10

export interface ChildMessage {
  readonly type: string
}

export interface Failed extends ChildMessage {
  readonly type: "failed"
  readonly reason: string
}

export interface Child {
  readonly pid: number
  readonly send: <M extends ChildMessage>(message: M) => void
  /**
   * Waits for the next message of the given type. Rejects if the child reports a failure, exits, or does not send
   * such a message in time.
   */
  readonly next: <M extends ChildMessage>(type: M["type"], withinSeconds: number) => Promise<M>
  readonly hasEnded: () => boolean
  readonly outputTail: () => string
  readonly stop: () => Promise<void>
}

export interface ChildOptions {
  readonly args?: readonly string[]
  readonly nodeFlags?: readonly string[]
  /**
   * The environment variables of the child. Apart from these it gets only PATH, because variables of the shell must
   * not affect a measurement.
   */
  readonly env?: Readonly<Record<string, string>>
}

const live = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of live) child.kill("SIGKILL")
})

let isShuttingDown = false

/** Kills the child when the bench exits. A child that is started during the shutdown is killed immediately. */
export const killOnExit = (child: ChildProcess): void => {
  if (isShuttingDown) child.kill("SIGKILL")
  live.add(child)
  child.once("exit", () => live.delete(child))
}

/** Stops all children of an interrupted bench. Children that are started afterwards are killed immediately. */
export const stopAllChildren = async (): Promise<void> => {
  isShuttingDown = true
  await Promise.all([...live].map(stop))
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), stopGraceSeconds * 1000)
  await ended
  clearTimeout(timer)
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Starts a program. A TypeScript file is bundled first. */
export function startChild(file: URL, options: ChildOptions = {}): Child {
  const program = file.pathname.endsWith(".ts") ? bundleProgram(file) : file
  const child = fork(program, options.args ?? [], {
    execArgv: [...(options.nodeFlags ?? []), "--import", bundleProgram(exitWithParent).href],
    env: { PATH: programPath, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    serialization: "advanced",
  })
  killOnExit(child)

  let tail = ""
  const keepTail = (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-outputTailChars)
  }
  child.stdout?.on("data", keepTail)
  child.stderr?.on("data", keepTail)

  const name = file.pathname.slice(file.pathname.lastIndexOf("/bench/") + 1)
  const endedWithout = (type: string) =>
    new BenchFailure(
      `${name} exited (${child.signalCode ?? child.exitCode}) without "${type}": ${tail.trim() || "no output"}`,
    )

  const next = <M extends ChildMessage>(type: M["type"], withinSeconds: number): Promise<M> =>
    new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        clearTimeout(timer)
        child.off("message", onMessage)
        child.off("exit", onExit)
        act()
      }
      const onMessage = (message: ChildMessage) => {
        if (message.type === type) finish(() => resolve(message as M))
        else if (message.type === "failed")
          finish(() => reject(new BenchFailure(`${name}: ${(message as Failed).reason}`)))
      }
      const onExit = () => finish(() => reject(endedWithout(type)))
      const timer = setTimeout(
        () => finish(() => reject(new BenchFailure(`${name} sent no "${type}" within ${withinSeconds} s`))),
        withinSeconds * 1000,
      )
      child.on("message", onMessage)
      child.on("exit", onExit)
      if (hasEnded(child)) onExit()
    })

  return {
    // `pid` is undefined only if the program could not be started. In this case there is no "exit" event to report
    // it.
    pid: child.pid ?? fail(`${name} could not be started`),
    send: (message) => child.send(message),
    next,
    hasEnded: () => hasEnded(child),
    outputTail: () => tail.trim(),
    stop: () => stop(child),
  }
}

function fail(reason: string): never {
  throw new BenchFailure(reason)
}
