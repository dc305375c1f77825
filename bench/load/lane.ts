/** A lane runs at most one operation at a time. It is a keep-alive connection, or a slot in a database pool. */
export interface Lane {
  /** The time when the current operation should have been sent. The latency is measured from this time. */
  intendedAtMs: number
  fire(intendedAtMs: number): void
  close(): void
}

/**
 * A lane calls this function when its operation has ended. `error` is the kind of the failure, or undefined after
 * success.
 */
export type Settle = (lane: Lane, error: string | undefined) => void

export type OpenLane = (index: number, settle: Settle) => Lane

export interface LoadPlan {
  readonly connections: number
  /**
   * The constant rate of an open loop. If it is undefined, the loop is closed: each lane sends its next operation as
   * soon as the previous response has arrived.
   */
  readonly ratePerSecond?: number
  readonly warmupSeconds: number
  /** The warm-up before a side's first run after a start. */
  readonly firstWarmupSeconds?: number
  readonly durationSeconds: number
  /**
   * If true, the generator polls instead of sleeping and occupies a whole core. This is set for servers that need
   * only one core themselves.
   */
  readonly awake?: boolean
  /**
   * If true, an operation for which no lane is idle is not sent, so an overloaded server does not delay the end of the
   * load. Latencies are then measured from the time of sending.
   */
  readonly dropsLate?: boolean
  /** The timeout of one operation. */
  readonly timeoutSeconds: number
}
