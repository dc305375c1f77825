import { Schema } from "effect"

const Invalidation = Schema.Tuple([Schema.String, Schema.String])

/** What one process tells all the others. There is one kind of message: each is a heartbeat, most are only that. */
export const Message = Schema.Struct({
  from: Schema.String,
  /** 1, 2, 3 … without a hole, so that whoever misses one notices at the next. */
  number: Schema.Int,
  /** The sender's own monotonic clock when it wrote this: it means something to the sender only. */
  sentAt: Schema.Finite,
  /** The newest number heard from each other process, everything in it done: an acknowledgement. */
  heard: Schema.Record(Schema.String, Schema.Int),
  drop: Schema.optionalKey(Schema.Union([Schema.Literal("all"), Schema.Array(Invalidation)])),
  wakes: Schema.optionalKey(Schema.Array(Invalidation)),
  /** More wake-ups were due than could be kept. */
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
  /** The sender does not hear the express wire: wake-ups for it must take this one. */
  deaf: Schema.optionalKey(Schema.Literal(true)),
  /** The sender has not heard the log for a lease: it serves nothing from memory, and nobody need wait for it. */
  away: Schema.optionalKey(Schema.Literal(true)),
  bye: Schema.optionalKey(Schema.Literal(true)),
})
export type Message = typeof Message.Type

export const decodeMessage = Schema.decodeUnknownOption(Schema.fromJsonString(Message))
