/** One place where at most one operation is under way: a keep-alive connection, or a slot in a database pool. */
export interface Lane {
  /** When the operation under way should have been sent. */
  intendedAtMs: number
  fire(intendedAtMs: number): void
  close(): void
}

/** `error` is undefined when the operation succeeded, else its kind. */
export type Settle = (lane: Lane, error: string | undefined) => void

export type OpenLane = (index: number, settle: Settle) => Lane

export interface LoadPlan {
  readonly connections: number
  /** Open loop at this rate; closed loop, as fast as answers come, without it. */
  readonly ratePerSecond?: number
  readonly warmupSeconds: number
  /** Of a side's first run. */
  readonly firstWarmupSeconds?: number
  readonly durationSeconds: number
  /** The generator never sleeps: for servers that need no core but their own. */
  readonly awake?: boolean
  /** How long one operation is waited for. */
  readonly timeoutSeconds: number
}
