import { Schema } from "effect"

/** Of the server and its children, for each successful operation. */
const ServerCost = Schema.Struct({
  cpuShare: Schema.Number,
  cpuMicrosPerOperation: Schema.Number,
  /** Postgres below the server is kept apart, so that the server's own cost can be compared with a bare one's. */
  databaseCpuMicrosPerOperation: Schema.Number,
  rssMb: Schema.Number,
  /** What one open socket added to the memory; only where sockets are what is counted. */
  socketKb: Schema.optionalKey(Schema.Number),
})
export type ServerCost = typeof ServerCost.Type

const Latency = Schema.Struct({
  meanMs: Schema.Number,
  p50Ms: Schema.Number,
  p90Ms: Schema.Number,
  p99Ms: Schema.Number,
  p999Ms: Schema.Number,
  p9999Ms: Schema.Number,
  maxMs: Schema.Number,
  /** Pairs of percentile and milliseconds, for the percentile plot. */
  curve: Schema.Array(Schema.Tuple([Schema.Number, Schema.Number])),
})
export type Latency = typeof Latency.Type

/** One measured run of one side: everything a results file keeps of it. */
export const Run = Schema.Struct({
  seconds: Schema.Number,
  completed: Schema.Number,
  ratePerSecond: Schema.Number,
  /** The rate asked for; absent in a closed loop, which asks for as much as it gets. */
  offeredPerSecond: Schema.optionalKey(Schema.Number),
  latency: Latency,
  errors: Schema.Record(Schema.String, Schema.Number),
  generator: Schema.Struct({
    cpuShare: Schema.Number,
    /** How late the generator itself sent: the part of the latency that is not the server's. */
    latenessP99Ms: Schema.optionalKey(Schema.Number),
  }),
  /** Cores that neither side used but somebody on the machine did. Well above zero, the run was disturbed. */
  othersCpuShare: Schema.Number,
  /** Absent when the server runs where its /proc cannot be read. */
  server: Schema.optionalKey(ServerCost),
})
export type Run = typeof Run.Type
