import { describe, expect, it } from "vitest"
import { familyOf, parseMachineBusyMicros, parseStat, readUsage } from "../../../bench/process/usage.ts"

describe("the measured CPU time", () => {
  it("is read correctly for a process whose name contains spaces and brackets", () => {
    const text = `4711 (a (b) c) S 12 4711 4711 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 1000 0 0 0`
    expect(parseStat(text)).toEqual({ pid: 4711, parentPid: 12, command: "a (b) c", cpuMicros: 3_000_000 })
  })

  it("includes all descendants of a process, but no other processes", () => {
    const stat = (pid: number, parentPid: number) => ({ pid, parentPid, command: "node", cpuMicros: 0 })
    const all = [stat(5, 3), stat(1, 0), stat(2, 1), stat(3, 2), stat(4, 1)]
    expect(familyOf(2, all).map(({ pid }) => pid)).toEqual([2, 3, 5])
  })

  it("of the whole machine excludes idle time and I/O wait", () => {
    expect(parseMachineBusyMicros("cpu  100 20 30 9000 800 5 5 40 0 0\ncpu0 1 1 1 1\n")).toBe(2_000_000)
  })

  it("increases while the current process computes", () => {
    const before = readUsage(process.pid)
    const own = process.cpuUsage()
    while (process.cpuUsage(own).user < 60_000) Math.sqrt(Math.random())
    const after = readUsage(process.pid)
    expect(after.cpuMicros - before.cpuMicros).toBeGreaterThanOrEqual(30_000)
    expect(after.rssMb).toBeGreaterThan(10)
  })
})
