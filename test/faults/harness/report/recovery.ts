import { type Ran, recentMs } from "../faults/run-faults.ts"
import type { HarnessResult } from "../harness.ts"

const shown = (ms: number | undefined): string => (ms === undefined ? "-" : `${(ms / 1000).toFixed(2)} s`)

const median = (values: ReadonlyArray<number>): number | undefined =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

/** The time from the end of a fault until each of its processes has answered an operation with success. */
const recoveryOf = ({ endedAt, processes }: Ran, { successes }: HarnessResult["log"]): number | undefined => {
  const times = processes.map(
    (name) => successes.find(({ at, process }) => process === name && at >= endedAt)?.at,
  )
  return times.some((at) => at === undefined) ? undefined : Math.max(...times.map((at) => at! - endedAt))
}

/** One row per fault: how often it ran, the successful operations meanwhile, the violations and the recovery. */
export const faultRows = ({ log, ran, violations }: HarnessResult): ReadonlyArray<ReadonlyArray<string>> => {
  const successes = log.successes.sort((a, b) => a.at - b.at)
  const sorted = { ...log, successes }
  const rows = [...new Set(ran.map(({ fault }) => fault))].map((fault) => {
    const runs = ran.filter((one) => one.fault === fault)
    const within = (at: number) =>
      runs.some(({ endedAt, startedAt }) => at >= startedAt && at <= endedAt + recentMs)
    const recoveries = runs
      .map((one) => recoveryOf(one, sorted as HarnessResult["log"]))
      .filter((ms) => ms !== undefined)
    return [
      fault,
      String(runs.length),
      String(successes.filter(({ at }) => within(at)).length),
      String(violations.found.filter(({ at }) => within(at)).length),
      shown(median(recoveries)),
      shown(recoveries.length === 0 ? undefined : Math.max(...recoveries)),
    ]
  })
  const isQuiet = (at: number) =>
    !ran.some(({ endedAt, startedAt }) => at >= startedAt && at <= endedAt + recentMs)
  return [
    ...rows,
    [
      "no fault",
      "-",
      String(successes.filter(({ at }) => isQuiet(at)).length),
      String(violations.found.filter(({ at }) => isQuiet(at)).length),
      "-",
      "-",
    ],
  ]
}
