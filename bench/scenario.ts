import type { CrowdPlan } from "./crowd/crowd.ts"
import type { FanOutPlan } from "./crowd/fan-out.ts"
import type { ContestPlan } from "./load/contest.ts"
import type { Check, HttpTraffic, RequestSource } from "./load/http-lane.ts"
import type { Target } from "./load/request.ts"
import type { RunningServer, Side } from "./side.ts"

/**
 * The metrics by which sides are compared: operations per second, server CPU time per operation, p50 and p99
 * latency, and server memory per socket.
 */
export const metrics = ["rate", "cpu", "p50", "p99", "memory"] as const
export type Metric = (typeof metrics)[number]

export interface Aim {
  readonly metric: Metric
  /** If set, the sides are compared by subtraction instead of division. */
  readonly isDifference?: true
  readonly atLeast?: number
  readonly atMost?: number
}

/**
 * A side that the subject is compared with, and the expected results of the comparison. Both are measured in the same
 * run.
 */
export interface Opponent {
  readonly side: Side
  readonly aims?: readonly Aim[]
  /**
   * The share of the connections and of the constant rate that this side gets, from 0 to 1. A side with half as many
   * processes as the subject gets 0.5. The default is 1.
   */
  readonly share?: number
  /** The warm-up before this side's first run after a start. It overrides the scenario's `firstWarmupSeconds`. */
  readonly firstWarmupSeconds?: number
  /**
   * Two bare servers that differ in the same way as subject and opponent, for example in the number of processes. The
   * ratio of subject and opponent is divided by the ratio of these two servers before it is judged.
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
  /** The number of connections or sockets, unless the command line sets it. */
  readonly connections?: number
  /** The maximum number of runs. Memory per socket, for example, can be measured only once after a start. */
  readonly runs?: number
  /** The estimated time for storing data and connecting. Only the progress line uses it. */
  readonly setupSeconds?: number
  /**
   * If set, all runs use this constant rate and the peak rate is not measured. So the costs per operation are
   * compared under the same load.
   */
  readonly ratePerSecond?: number
  /**
   * The warm-up before a side's first run after a start. It is set if Node's JIT compilation takes longer than the
   * default warm-up and would be measured.
   */
  readonly firstWarmupSeconds?: number
  /** If set, the sides are also measured at several constant rates, for the plot of latency over rate. */
  readonly sweep?: true
  /**
   * The point of this scenario in the plot of cost over stored ids: the name of its curve, and the number of stored
   * ids.
   */
  readonly stored?: { readonly curve: string; readonly ids: number }
  /**
   * If set, the servers are restarted between peak runs, because speed varies between process starts. A server that
   * cannot be restarted keeps running.
   */
  readonly fresh?: true
  /**
   * Set if the subject does not use its database during the load. The database then needs no core, so the generator
   * may occupy one: it polls instead of sleeping.
   */
  readonly fromMemory?: true
  readonly rssLimitMb?: number
  /**
   * If set, the scenario runs only when it is selected with `--scenario`. This keeps a run without
   * `--scenario` short.
   */
  readonly onRequest?: true
  /**
   * Runs once for each side that is a service, before the load starts. The result is sent to the generator process.
   */
  prepare?(server: RunningServer): Promise<Precomputed>
  /** Runs after `prepare` and after each restart of the service, for example to load data into memory. */
  settle?(server: RunningServer): Promise<void>
}

/**
 * A scenario that sends HTTP requests. Its functions are declared as methods and not as properties, so that scenarios
 * with different `Precomputed` types fit in one list.
 */
export interface RequestScenario<Precomputed> extends Common<Precomputed> {
  /**
   * Returns the requests to send. If only a source is returned, `check` and `statuses` decide which responses are
   * successful. For baselines, `prepared` is undefined.
   */
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

/** A scenario in which every side is a driver: a program that generates its own load. */
export type DriverScenario<Precomputed> = Common<Precomputed>

export type Scenario<Precomputed = unknown> =
  | DriverScenario<Precomputed>
  | RequestScenario<Precomputed>
  | FanOutScenario<Precomputed>
  | ReconnectScenario<Precomputed>
  | IdleScenario<Precomputed>
  | ContestScenario<Precomputed>
