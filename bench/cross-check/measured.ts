import type { Run } from "../load/run.ts"
import { readUsage } from "../process/usage.ts"

/** The figures that every load generator reports. Figures that a generator does not report are undefined. */
export interface Measured {
  readonly ratePerSecond: number
  readonly p50Ms?: number | undefined
  readonly p99Ms?: number | undefined
  readonly cpuMicros?: number | undefined
  readonly errors: number
}

export const measuredOf = ({ errors, latency, ratePerSecond, server }: Run): Measured => ({
  ratePerSecond,
  p50Ms: latency.p50Ms,
  p99Ms: latency.p99Ms,
  cpuMicros: server?.cpuMicrosPerOperation,
  errors: Object.values(errors).reduce((sum, count) => sum + count, 0),
})

/** Runs the load of another generator, and adds the CPU time of the server per operation. */
export async function withServerCpu(
  serverPid: number | undefined,
  load: () => Promise<Measured & { readonly operations: number }>,
): Promise<Measured> {
  const before = serverPid === undefined ? undefined : readUsage(serverPid).cpuMicros
  const { operations, ...measured } = await load()
  if (serverPid === undefined || before === undefined) return measured
  return { ...measured, cpuMicros: (readUsage(serverPid).cpuMicros - before) / Math.max(1, operations) }
}
