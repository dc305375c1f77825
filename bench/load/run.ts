import { Schema } from "effect"

/** The CPU and memory use of the server and its child processes. */
const ServerCost = Schema.Struct({
  cpuShare: Schema.Number,
  cpuMicrosPerOperation: Schema.Number,
  /**
   * The CPU time of Postgres. It is not included in `cpuMicrosPerOperation`, so that the service can be compared with
   * a bare server.
   */
  databaseCpuMicrosPerOperation: Schema.Number,
  rssMb: Schema.Number,
  /** The memory per open socket. Only scenarios with idle sockets measure it. */
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
  /** All latencies in microseconds, as a compressed HdrHistogram V2 in base64. Absent in older results files. */
  histogram: Schema.optionalKey(Schema.String),
})
export type Latency = typeof Latency.Type

/** One measured run of one side, as stored in a results file. */
export const Run = Schema.Struct({
  seconds: Schema.Number,
  completed: Schema.Number,
  ratePerSecond: Schema.Number,
  /** The requested rate of an open loop. Absent in a closed loop. */
  offeredPerSecond: Schema.optionalKey(Schema.Number),
  latency: Latency,
  errors: Schema.Record(Schema.String, Schema.Number),
  generator: Schema.Struct({
    cpuShare: Schema.Number,
    /**
     * The 99th percentile of how late the generator sent its requests. The server does not cause this part of the
     * latency. Absent in a closed loop.
     */
    latenessP99Ms: Schema.optionalKey(Schema.Number),
  }),
  /** The number of cores that other programs on the machine used. If it is well above zero, the run was disturbed. */
  othersCpuShare: Schema.Number,
  /**
   * The number of answers that were checked for consistency, and descriptions of the wrong ones. Absent if the scenario
   * checks none.
   */
  audit: Schema.optionalKey(Schema.Struct({ checked: Schema.Number, wrong: Schema.Array(Schema.String) })),
  /** Absent for a server that the bench did not start, because its CPU and memory use cannot be read from /proc. */
  server: Schema.optionalKey(ServerCost),
})
export type Run = typeof Run.Type
