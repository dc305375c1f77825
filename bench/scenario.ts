import type { CrowdPlan } from "./crowd/crowd.ts"
import type { FanOutPlan } from "./crowd/fan-out.ts"
import type { ContestPlan } from "./load/contest.ts"
import type { Check, HttpTraffic, RequestSource } from "./load/http-lane.ts"
import type { Target } from "./load/request.ts"
import type { RunningServer, Side } from "./side.ts"

/** The subject's figure divided by the opponent's. CPU time is the server's per operation, memory is per socket. */
export const metrics = ["rate", "cpu", "p99", "memory"] as const
export type Metric = (typeof metrics)[number]

export interface Aim {
  readonly metric: Metric
  /** Judge the subject's figure minus the opponent's instead. */
  readonly isDifference?: true
  readonly atLeast?: number
  readonly atMost?: number
}

/** Somebody to be measured against in the same run, and what that should show. */
export interface Opponent {
  readonly side: Side
  readonly aims?: readonly Aim[]
  /** Which part of the load it gets, where it has that part of the processes: connections and constant rates alike. */
  readonly share?: number
  /** Where the scenario's own would be longer than this side needs. */
  readonly firstWarmupSeconds?: number
  /** Two bare servers that differ as subject and opponent do, measured in the same turns: the aims are for what is beyond. */
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
  /** How many connections or sockets when the command line does not say. */
  readonly connections?: number
  /** At most so many runs, where a server can only be measured while it is fresh. */
  readonly runs?: number
  /** About how long storing and joining take beside the runs, for the progress line. */
  readonly setupSeconds?: number
  /** Every run is at this rate and none at the peak: what an operation costs can only be compared under the same load. */
  readonly ratePerSecond?: number
  /** Before a side's first run, where its way is so long that a short warm-up would measure the compiler. */
  readonly firstWarmupSeconds?: number
  /** Measured at constant rates too, for the curve of latency over rate. */
  readonly sweep?: true
  /** Where this scenario's cost stands on a curve over stored ids. */
  readonly stored?: { readonly curve: string; readonly ids: number }
  /** Every run is of servers that have just started: what a start is given, in memory and in compiled code, it keeps. */
  readonly fresh?: true
  /** The subject answers without its database, so that the generator may keep a core to itself. */
  readonly fromMemory?: true
  readonly rssLimitMb?: number
  /** Left out of a plain run, which has about five minutes. */
  readonly onRequest?: true
  /** Runs once for each running service before its load; what it returns is handed to the generator's process. */
  prepare?(server: RunningServer): Promise<Precomputed>
  /** Runs after that, and after each new start of the service. */
  settle?(server: RunningServer): Promise<void>
}

/** Methods, not function members: the registry keeps scenarios with different preparations in one list. */
export interface RequestScenario<Precomputed> extends Common<Precomputed> {
  /** A source alone is judged by the two members below. Baselines are given no preparation. */
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

/** Every side is a driver and brings its own load. */
export type DriverScenario<Precomputed> = Common<Precomputed>

export type Scenario<Precomputed = unknown> =
  | DriverScenario<Precomputed>
  | RequestScenario<Precomputed>
  | FanOutScenario<Precomputed>
  | ReconnectScenario<Precomputed>
  | IdleScenario<Precomputed>
  | ContestScenario<Precomputed>
