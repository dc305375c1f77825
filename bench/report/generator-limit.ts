import type { Run } from "../load/run.ts"

const busyShare = 0.9

/** The generator had no more to give while the server had: what was measured is the generator. */
export const isGeneratorLimited = (runs: readonly Run[]): boolean =>
  runs.length > 0 &&
  runs.every(
    ({ generator, server }) =>
      server !== undefined && server.cpuShare < busyShare && generator.cpuShare > busyShare,
  )
