import type { Run } from "../load/run.ts"

const disturbedAboveCores = 0.15

/** Returns the highest number of cores that other programs used during one of the runs. */
export const disturbanceOf = (runs: readonly Run[]): number =>
  runs.reduce((worst, run) => Math.max(worst, run.othersCpuShare), 0)

export const isDisturbed = (runs: readonly Run[]): boolean => disturbanceOf(runs) > disturbedAboveCores
