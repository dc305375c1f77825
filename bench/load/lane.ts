/** Runs at most one operation at a time: a keep-alive connection, or a slot in a database pool. */
export interface Lane {
  /** When the current operation should have been sent. */
  intendedAtMs: number
  fire(intendedAtMs: number): void
  close(): void
}

/** `error` is the kind of the failure, or undefined after success. */
export type Settle = (lane: Lane, error: string | undefined) => void

export type OpenLane = (index: number, settle: Settle) => Lane

export interface LoadPlan {
  readonly connections: number
  /** The rate of an open loop. Without it the loop is closed and runs as fast as responses arrive. */
  readonly ratePerSecond?: number
  readonly warmupSeconds: number
  /** Warm-up of a side's first run. */
  readonly firstWarmupSeconds?: number
  readonly durationSeconds: number
  /** Keeps the generator process awake, for servers that use only one core. */
  readonly awake?: boolean
  /** The timeout of one operation. */
  readonly timeoutSeconds: number
}
