import { Schema } from "effect"
import { Run } from "../load/run.ts"
import { metrics } from "../scenario.ts"

const Spread = Schema.Struct({ median: Schema.Number, min: Schema.Number, max: Schema.Number })

const Ratio = Schema.Struct({
  /** The measured side, if it is not the subject. */
  of: Schema.optionalKey(Schema.String),
  against: Schema.String,
  /** The bare servers whose ratio this one was divided by. */
  beyond: Schema.optionalKey(Schema.String),
  metric: Schema.Literals(metrics),
  value: Spread,
  /** Set if the value is a difference instead of a ratio. */
  isDifference: Schema.optionalKey(Schema.Literal(true)),
  aim: Schema.optionalKey(Schema.String),
  /** Absent without an aim, or if the runs were too disturbed. */
  met: Schema.optionalKey(Schema.Boolean),
  /** Set if the generator limited the rates, and the aim was judged by CPU time. */
  byCpuTime: Schema.optionalKey(Schema.Literal(true)),
})
export type Ratio = typeof Ratio.Type

const SideResult = Schema.Struct({
  name: Schema.String,
  /** Runs of a closed loop at the highest rate. */
  peak: Schema.Array(Run),
  /** Runs of an open loop. Runs with the same rate belong together. */
  atRate: Schema.Array(Run),
})
export type SideResult = typeof SideResult.Type

const ScenarioResult = Schema.Struct({
  name: Schema.String,
  summary: Schema.String,
  connections: Schema.Number,
  stored: Schema.optionalKey(Schema.Struct({ curve: Schema.String, ids: Schema.Number })),
  rssLimitMb: Schema.optionalKey(Schema.Number),
  /** The subject first. */
  sides: Schema.Array(SideResult),
  ratios: Schema.Array(Ratio),
})
export type ScenarioResult = typeof ScenarioResult.Type

/** A results file. Increase `format` when older files can no longer be compared. */
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
  }),
  flags: Schema.Array(Schema.String),
  scenarios: Schema.Array(ScenarioResult),
})
export type Results = typeof Results.Type
