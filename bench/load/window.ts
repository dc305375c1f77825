import { readMachineBusyMicros, readUsage, type Usage } from "../process/usage.ts"
import type { Run, ServerCost } from "./run.ts"
import type { Tally } from "./tally.ts"

interface Sample {
  readonly atMs: number
  readonly ownMicros: number
  readonly server: Usage | undefined
  readonly machineBusyMicros: number
}

/** Measures the CPU time of server and generator, and the memory of the server, from `open` to `close`. */
export class Window {
  readonly #serverPid: number | undefined
  readonly #onOpen: () => void
  #opened: Sample | undefined
  #closed: Sample | undefined
  #idleMicros = 0

  /**
   * If `serverPid` is undefined, the server's process is unknown, and its CPU and memory use are not measured.
   * `onOpen` is called when the window opens.
   */
  constructor(serverPid: number | undefined, onOpen: () => void = () => {}) {
    this.#serverPid = serverPid
    this.#onOpen = onOpen
  }

  open(): void {
    const sample = this.#sample()
    this.#onOpen()
    // The window starts after /proc has been read, because reading takes a few milliseconds.
    this.#opened = { ...sample, atMs: performance.now() }
  }

  /**
   * Ends the window. `idleMs` is the time in which the generator only polled to stay awake. It is not counted as work
   * of the generator.
   */
  close(idleMs = 0): void {
    this.#closed = this.#sample()
    this.#idleMicros = idleMs * 1000
  }

  /**
   * Returns the measured run. An open loop passes the intended start and end of the window, because its first request
   * may have been sent late.
   */
  report(tally: Tally, intended?: { readonly startMs: number; readonly endMs: number }): Run {
    const opened = this.#opened
    const closed = this.#closed
    if (opened === undefined || closed === undefined)
      throw new Error("the measured window was not opened and closed")
    const seconds = (closed.atMs - opened.atMs) / 1000
    const measuredSeconds = intended === undefined ? seconds : (intended.endMs - intended.startMs) / 1000
    const ownMicros = closed.ownMicros - opened.ownMicros
    const server = serverMicros(opened, closed)
    const machineMicros = closed.machineBusyMicros - opened.machineBusyMicros
    // In a driver, the generator and the server are the same process, so its CPU time is subtracted only once.
    const generatorMicros = this.#serverPid === process.pid ? 0 : ownMicros
    const othersMicros = machineMicros - generatorMicros - server.cpuMicros - server.databaseCpuMicros
    return {
      seconds: measuredSeconds,
      completed: tally.completed,
      ratePerSecond: tally.completed / measuredSeconds,
      latency: tally.latency(),
      errors: tally.errors,
      generator: { cpuShare: Math.max(0, ownMicros - this.#idleMicros) / 1e6 / seconds },
      othersCpuShare: Math.max(0, othersMicros / 1e6 / seconds),
      ...(closed.server && { server: serverCost(server, closed.server.rssMb, tally.completed, seconds) }),
    }
  }

  #sample(): Sample {
    const { system, user } = process.cpuUsage()
    return {
      atMs: performance.now(),
      ownMicros: user + system,
      server: this.#serverPid === undefined ? undefined : readUsage(this.#serverPid),
      machineBusyMicros: readMachineBusyMicros(),
    }
  }
}

type CpuUse = Pick<Usage, "cpuMicros" | "databaseCpuMicros">

function serverMicros(opened: Sample, closed: Sample): CpuUse {
  return {
    cpuMicros: (closed.server?.cpuMicros ?? 0) - (opened.server?.cpuMicros ?? 0),
    databaseCpuMicros: (closed.server?.databaseCpuMicros ?? 0) - (opened.server?.databaseCpuMicros ?? 0),
  }
}

function serverCost(use: CpuUse, rssMb: number, completed: number, seconds: number): ServerCost {
  const operations = Math.max(1, completed)
  return {
    cpuShare: use.cpuMicros / 1e6 / seconds,
    cpuMicrosPerOperation: use.cpuMicros / operations,
    databaseCpuMicrosPerOperation: use.databaseCpuMicros / operations,
    rssMb,
  }
}
