import type { Run } from "../load/run.ts"

const busyShare = 0.9

/**
 * Whether in all runs the generator was saturated and the server was not. The rates then show the limit of the
 * generator, not of the server.
 */
export const isGeneratorLimited = (runs: readonly Run[]): boolean =>
  runs.length > 0 &&
  runs.every(
    ({ generator, server }) =>
      server !== undefined && server.cpuShare < busyShare && generator.cpuShare > busyShare,
  )
