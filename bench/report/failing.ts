import type { Run } from "../load/run.ts"

const tolerableShare = 0.01

/** Returns the share of operations that failed, from 0 to 1. Returns 1 if there were no operations. */
export function failedShareOf(runs: readonly Run[]): number {
  const completed = runs.reduce((sum, run) => sum + run.completed, 0)
  const failed = runs.flatMap((run) => Object.values(run.errors)).reduce((sum, count) => sum + count, 0)
  return completed + failed === 0 ? 1 : failed / (completed + failed)
}

/**
 * Whether more than 1 % of the operations failed. The figures are then not valid, because error responses are often
 * faster than successful ones.
 */
export const isFailing = (runs: readonly Run[]): boolean =>
  runs.length > 0 && failedShareOf(runs) > tolerableShare
