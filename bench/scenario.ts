import type { CrowdPlan } from "./crowd/crowd.ts"
import type { FanOutPlan } from "./crowd/fan-out.ts"
import type { ContestPlan } from "./load/contest.ts"
import type { Check, HttpTraffic, RequestSource } from "./load/http-lane.ts"
import type { Target } from "./load/request.ts"
import type { RunningServer, Side } from "./side.ts"

/** Metrics to compare. CPU time is the server's time per operation; memory is per socket. */
export const metrics = ["rate", "cpu", "p99", "memory"] as const
export type Metric = (typeof metrics)[number]

export interface Aim {
  readonly metric: Metric
  /** Compare by subtraction instead of division. */
  readonly isDifference?: true
  readonly atLeast?: number
  readonly atMost?: number
}

/** A side that is measured in the same run for comparison, and the expected results. */
export interface Opponent {
  readonly side: Side
  readonly aims?: readonly Aim[]
  /** The part of the load this side gets, for connections and constant rates, if it has fewer processes. */
  readonly share?: number
  /** Overrides the scenario's warm-up for this side. */
  readonly firstWarmupSeconds?: number
  /**
   * Two bare servers with the same difference as subject and opponent. The ratio is divided by theirs before it is
   * judged.
   */
  readonly beyond?: Step
}

export interface Step {
  readonly subject: Side
  readonly side: Side
}

interface Common<Precomputed> {
  readonly name: string
  readonly summary: string
  readonly subject: Side
  readonly against: readonly Opponent[]
  /** Default number of connections or sockets. */
  readonly connections?: number
  /** Maximum number of runs, for servers that can be measured only after a start. */
  readonly runs?: number
  /** Estimated time for storing data and connecting, for the progress line. */
  readonly setupSeconds?: number
  /** All runs use this rate. Without a peak run, costs per operation are compared under the same load. */
  readonly ratePerSecond?: number
  /** Warm-up before a side's first run, if a short one would measure JIT compilation. */
  readonly firstWarmupSeconds?: number
  /** Also measure at constant rates, for the plot of latency over rate. */
  readonly sweep?: true
  /** The position of this scenario on a plot of cost over stored ids. */
  readonly stored?: { readonly curve: string; readonly ids: number }
  /** Restart the servers before every run, because speed varies between process starts. */
  readonly fresh?: true
  /** The subject does not use its database, so the generator may use a core of its own. */
  readonly fromMemory?: true
  readonly rssLimitMb?: number
  /** Runs only when it is selected. The default run takes about five minutes. */
  readonly onRequest?: true
  /** Runs once for each service before its load. The result is sent to the generator process. */
  prepare?(server: RunningServer): Promise<Precomputed>
  /** Runs after `prepare` and after each restart of the service. */
  settle?(server: RunningServer): Promise<void>
}

/** Uses methods instead of function members, so that scenarios with different `Precomputed` types fit in one list. */
export interface RequestScenario<Precomputed> extends Common<Precomputed> {
  /** If only a source is returned, `check` and `statuses` decide about success. Baselines get no prepared data. */
  requests(target: Target, prepared: Precomputed): RequestSource | HttpTraffic
  readonly check?: Check
  readonly statuses?: readonly number[]
}

export interface FanOutScenario<Precomputed> extends Common<Precomputed> {
  fanOut(target: Target, prepared: Precomputed, sockets: number): FanOutPlan
}

export interface ReconnectScenario<Precomputed> extends Common<Precomputed> {
  reconnect(target: Target, prepared: Precomputed): CrowdPlan
}

export interface IdleScenario<Precomputed> extends Common<Precomputed> {
  idle(target: Target, prepared: Precomputed): CrowdPlan
}

export interface ContestScenario<Precomputed> extends Common<Precomputed> {
  contest(target: Target, prepared: Precomputed): ContestPlan
}

/** Every side is a driver that generates its own load. */
export type DriverScenario<Precomputed> = Common<Precomputed>

export type Scenario<Precomputed = unknown> =
  | DriverScenario<Precomputed>
  | RequestScenario<Precomputed>
  | FanOutScenario<Precomputed>
  | ReconnectScenario<Precomputed>
  | IdleScenario<Precomputed>
  | ContestScenario<Precomputed>
