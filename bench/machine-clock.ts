/** Milliseconds by the one clock that all processes of this machine read. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6
