import { Schema } from "effect"

/** Cost of the server and its child processes per successful operation. */
const ServerCost = Schema.Struct({
  cpuShare: Schema.Number,
  cpuMicrosPerOperation: Schema.Number,
  /** CPU time of Postgres, counted separately, so that the server can be compared with a bare server. */
  databaseCpuMicrosPerOperation: Schema.Number,
  rssMb: Schema.Number,
  /** Memory per open socket, only in scenarios that count sockets. */
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
    /** How late the generator sent its requests. This part of the latency is not caused by the server. */
    latenessP99Ms: Schema.optionalKey(Schema.Number),
  }),
  /** Cores used by other programs on the machine. If well above zero, the run was disturbed. */
  othersCpuShare: Schema.Number,
  /** Absent for a remote server, whose /proc cannot be read. */
  server: Schema.optionalKey(ServerCost),
})
export type Run = typeof Run.Type
