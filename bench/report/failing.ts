import type { Run } from "../load/run.ts"

const tolerableShare = 0.01

/** The share of operations that failed. */
export function failedShareOf(runs: readonly Run[]): number {
  const completed = runs.reduce((sum, run) => sum + run.completed, 0)
  const failed = runs.flatMap((run) => Object.values(run.errors)).reduce((sum, count) => sum + count, 0)
  return completed + failed === 0 ? 1 : failed / (completed + failed)
}

/** Whether so many operations failed that the figures are not valid. Failing responses are often fast. */
export const isFailing = (runs: readonly Run[]): boolean =>
  runs.length > 0 && failedShareOf(runs) > tolerableShare
