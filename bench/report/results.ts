import { Schema } from "effect"
import { Run } from "../load/run.ts"
import { metrics } from "../scenario.ts"

const Spread = Schema.Struct({ median: Schema.Number, min: Schema.Number, max: Schema.Number })

const Ratio = Schema.Struct({
  /** The name of the measured side. Absent if it is the subject. */
  of: Schema.optionalKey(Schema.String),
  against: Schema.String,
  /** The names of the two bare servers whose ratio this ratio was divided by. Absent if it was not divided. */
  beyond: Schema.optionalKey(Schema.String),
  metric: Schema.Literals(metrics),
  value: Spread,
  /** Set if the value is a difference instead of a ratio. */
  isDifference: Schema.optionalKey(Schema.Literal(true)),
  aim: Schema.optionalKey(Schema.String),
  /**
   * Whether the aim is met. Absent if there is no aim, or if the runs allow no verdict, for example because other
   * programs used the machine.
   */
  met: Schema.optionalKey(Schema.Boolean),
  /** Set if the aim was judged by CPU time, because the generator limited the rates. */
  byCpuTime: Schema.optionalKey(Schema.Literal(true)),
})
export type Ratio = typeof Ratio.Type

const SideResult = Schema.Struct({
  name: Schema.String,
  /** What the service guarantees and this side does not. Absent if they do not differ. */
  lacks: Schema.optionalKey(Schema.String),
  /** Runs of a closed loop, which sends as fast as responses arrive. */
  peak: Schema.Array(Run),
  /** Runs of an open loop, which sends at a constant rate. Runs with the same rate measure the same load. */
  atRate: Schema.Array(Run),
})
export type SideResult = typeof SideResult.Type

const ScenarioResult = Schema.Struct({
  name: Schema.String,
  summary: Schema.String,
  connections: Schema.Number,
  stored: Schema.optionalKey(Schema.Struct({ curve: Schema.String, ids: Schema.Number })),
  rssLimitMb: Schema.optionalKey(Schema.Number),
  /** The results of all sides. The first one is the subject. */
  sides: Schema.Array(SideResult),
  ratios: Schema.Array(Ratio),
})
export type ScenarioResult = typeof ScenarioResult.Type

/** The methods: the default run, a run for published figures (`--publish`), and a smoke test (`--quick`). */
export const methods = ["short", "published", "smoke"] as const

const Method = Schema.Struct({
  name: Schema.Literals(methods),
  /** The length of one measured window, without warm-up. */
  windowSeconds: Schema.Number,
  /** The number of windows per figure. In a published run, each window has a fresh start of service and database. */
  windows: Schema.Number,
})
export type Method = typeof Method.Type

/** The content of a results file. Increase `format` when older files can no longer be compared with new ones. */
export const Results = Schema.Struct({
  format: Schema.Literal(1),
  at: Schema.String,
  commit: Schema.String,
  node: Schema.String,
  machine: Schema.Struct({
    platform: Schema.String,
    cpu: Schema.String,
    cores: Schema.Number,
    memoryGb: Schema.Number,
    /** The load average of the last minute at the start of the bench. Absent in older results files. */
    loadAtStart: Schema.optionalKey(Schema.Number),
  }),
  /** How the figures were measured. Absent in older results files. */
  method: Schema.optionalKey(Method),
  flags: Schema.Array(Schema.String),
  scenarios: Schema.Array(ScenarioResult),
})
export type Results = typeof Results.Type
