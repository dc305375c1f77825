import type { Run } from "../load/run.ts"

const disturbedAboveCores = 0.15

/** Returns the highest number of cores that other programs used during one of the runs. */
export const disturbanceOf = (runs: readonly Run[]): number =>
  runs.reduce((worst, run) => Math.max(worst, run.othersCpuShare), 0)

/** An open loop normally sends within a few milliseconds, even when it waits for a busy core. */
export const lateAboveMs = 25

/**
 * Returns how late the generator sent its requests although it had an idle connection, in milliseconds. A long time
 * means that the generator or the whole machine was stopped.
 */
export const latenessOf = (runs: readonly Run[]): number =>
  runs.reduce((worst, { generator }) => Math.max(worst, generator.latenessP99Ms ?? 0), 0)

export const isDisturbed = (runs: readonly Run[]): boolean => disturbanceOf(runs) > disturbedAboveCores
