import { readdirSync, readFileSync } from "node:fs"

/** The programs whose CPU time is counted as time of the database. */
const databases = new Set(["postgres", "redis-server"])

/** The unit of the times in /proc/PID/stat, called USER_HZ: 100 ticks per second, fixed by the kernel interface. */
const ticksPerSecond = 100

export interface Usage {
  readonly cpuMicros: number
  /**
   * The CPU time of Postgres, and of the Redis server of a baseline. It is not included in `cpuMicros`, so that the service can be compared
   * with a bare server.
   */
  readonly databaseCpuMicros: number
  readonly rssMb: number
}

export interface ProcessStat {
  readonly pid: number
  readonly parentPid: number
  readonly command: string
  readonly cpuMicros: number
}

/**
 * Parses the text of /proc/PID/stat. The command can contain brackets and spaces, so the fields after it are counted
 * from the last closing bracket.
 */
export function parseStat(text: string): ProcessStat {
  const open = text.indexOf("(")
  const close = text.lastIndexOf(")")
  const fields = text.slice(close + 2).split(" ")
  const ticks = Number(fields[11]) + Number(fields[12])
  return {
    pid: Number(text.slice(0, open)),
    parentPid: Number(fields[1]),
    command: text.slice(open + 1, close),
    cpuMicros: (ticks / ticksPerSecond) * 1e6,
  }
}

/** Returns the process and all its descendants. Returns an empty list if the process is not in `all`. */
export function familyOf(rootPid: number, all: readonly ProcessStat[]): ProcessStat[] {
  const family = all.filter((stat) => stat.pid === rootPid)
  for (let i = 0; i < family.length; i++) {
    const parent = family[i]!
    for (const stat of all) if (stat.parentPid === parent.pid && stat.pid !== rootPid) family.push(stat)
  }
  return family
}

export function readUsage(rootPid: number): Usage {
  const usage = { cpuMicros: 0, databaseCpuMicros: 0, rssMb: 0 }
  for (const stat of familyOf(rootPid, readAllStats())) {
    if (databases.has(stat.command)) usage.databaseCpuMicros += stat.cpuMicros
    else {
      usage.cpuMicros += stat.cpuMicros
      usage.rssMb += readRssMb(stat.pid)
    }
  }
  return usage
}

/** Returns the CPU time that the whole machine has used since it started, without idle time and I/O wait. */
export function readMachineBusyMicros(): number {
  return parseMachineBusyMicros(readProc("/proc/stat") ?? "")
}

export function parseMachineBusyMicros(text: string): number {
  const [user, nice, system, , , irq, softirq, steal] = (/^cpu +(.*)$/m.exec(text)?.[1] ?? "")
    .split(" ")
    .map(Number)
  const ticks = [user, nice, system, irq, softirq, steal].reduce<number>((sum, part) => sum + (part ?? 0), 0)
  return (ticks / ticksPerSecond) * 1e6
}

function readAllStats(): ProcessStat[] {
  const stats: ProcessStat[] = []
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue
    const text = readProc(`/proc/${entry}/stat`)
    if (text !== undefined) stats.push(parseStat(text))
  }
  return stats
}

function readRssMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`) ?? "")?.[1]
  return Number(kilobytes ?? 0) / 1024
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
