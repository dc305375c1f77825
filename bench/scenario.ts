import type { CrowdPlan } from "./crowd/crowd.ts"
import type { FanOutPlan } from "./crowd/fan-out.ts"
import type { Check, RequestSource } from "./load/http-lane.ts"
import type { Target } from "./load/request.ts"
import type { Side } from "./side.ts"

/** "rate" and "p99" and "cpu" are the subject's figure divided by the opponent's; CPU time is the server's per operation. */
export const metrics = ["rate", "cpu", "p99"] as const
export type Metric = (typeof metrics)[number]

export interface Aim {
  readonly metric: Metric
  readonly atLeast?: number
  readonly atMost?: number
}

/** Somebody to be measured against in the same run, and what that should show. */
export interface Opponent {
  readonly side: Side
  readonly aims?: readonly Aim[]
}

interface Common<Prepared> {
  readonly name: string
  readonly summary: string
  readonly subject: Side
  readonly against: readonly Opponent[]
  /** How many connections or sockets when the command line does not say. */
  readonly connections?: number
  /** Where this scenario's cost stands on a curve over stored ids. */
  readonly stored?: { readonly curve: string; readonly ids: number }
  readonly rssLimitMb?: number
  /** Left out of a plain run; for scenarios that only say something about the suite itself. */
  readonly onRequest?: true
  /** Runs once for each server before its load; what it returns is handed to the generator's process. */
  prepare?(target: Target): Promise<Prepared>
}

/** Methods, not function members: the registry keeps scenarios with different preparations in one list. */
export interface RequestScenario<Prepared> extends Common<Prepared> {
  requests(target: Target, prepared: Prepared): RequestSource
  readonly check?: Check
  readonly statuses?: readonly number[]
}

export interface FanOutScenario<Prepared> extends Common<Prepared> {
  fanOut(target: Target, prepared: Prepared, sockets: number): FanOutPlan
}

export interface ReconnectScenario<Prepared> extends Common<Prepared> {
  reconnect(target: Target, prepared: Prepared): CrowdPlan
}

/** Every side is a driver and brings its own load. */
export type DriverScenario<Prepared> = Common<Prepared>

export type Scenario<Prepared = unknown> =
  | DriverScenario<Prepared>
  | RequestScenario<Prepared>
  | FanOutScenario<Prepared>
  | ReconnectScenario<Prepared>
