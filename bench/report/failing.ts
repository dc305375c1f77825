import type { Run } from "../load/run.ts"

const tolerableShare = 0.01

/** Of all operations tried, those that did not succeed. */
export function failedShareOf(runs: readonly Run[]): number {
  const completed = runs.reduce((sum, run) => sum + run.completed, 0)
  const failed = runs.flatMap((run) => Object.values(run.errors)).reduce((sum, count) => sum + count, 0)
  return completed + failed === 0 ? 1 : failed / (completed + failed)
}

/** So many errors that the figures beside them mean nothing: refusing is quick. */
export const isFailing = (runs: readonly Run[]): boolean =>
  runs.length > 0 && failedShareOf(runs) > tolerableShare
