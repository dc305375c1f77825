import { Schema } from "effect"
import { Run } from "../load/run.ts"
import { metrics } from "../scenario.ts"

const Spread = Schema.Struct({ median: Schema.Number, min: Schema.Number, max: Schema.Number })

const Ratio = Schema.Struct({
  /** Whose figure it is of, where that is not the subject. */
  of: Schema.optionalKey(Schema.String),
  against: Schema.String,
  /** The ratio of bare servers that this one was divided by. */
  beyond: Schema.optionalKey(Schema.String),
  metric: Schema.Literals(metrics),
  value: Spread,
  /** Set when the value is the subject's figure minus the other's, not divided by it. */
  isDifference: Schema.optionalKey(Schema.Literal(true)),
  aim: Schema.optionalKey(Schema.String),
  /** Absent without an aim, and when the runs were too disturbed to judge it. */
  met: Schema.optionalKey(Schema.Boolean),
  /** The rates could not show it: judged by what a core delivers on either side. */
  byCpuTime: Schema.optionalKey(Schema.Literal(true)),
})
export type Ratio = typeof Ratio.Type

const SideResult = Schema.Struct({
  name: Schema.String,
  /** Closed loop, as fast as it goes. */
  peak: Schema.Array(Run),
  /** Open loop; runs at the same rate belong together. */
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

/** A results file. Raise `format` when an older one could no longer be compared. */
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
