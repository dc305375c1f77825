import { Schema } from "effect"

const Invalidation = Schema.Tuple([Schema.String, Schema.String])

/** The message that a process sends to all others. Every message is a heartbeat, and most contain nothing else. */
export const Message = Schema.Struct({
  from: Schema.String,
  /** 1, 2, 3 … without gaps, so that a receiver notices a missed message at the next one. */
  number: Schema.Int,
  /** The sender's monotonic clock when it wrote the message. Only the sender can interpret it. */
  sentAt: Schema.Finite,
  /** Acknowledgements: the newest message of each other process that the sender has received and applied. */
  heard: Schema.Record(Schema.String, Schema.Int),
  drop: Schema.optionalKey(Schema.Union([Schema.Literal("all"), Schema.Array(Invalidation)])),
  wakes: Schema.optionalKey(Schema.Array(Invalidation)),
  /** Wake-ups were dropped because too many were pending. */
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
  /** The sender does not receive messages through Redis. Wake-ups for it must be sent through the database. */
  deaf: Schema.optionalKey(Schema.Literal(true)),
  /** The lease of the sender has expired. It does not use its caches, and writers need not wait for it. */
  away: Schema.optionalKey(Schema.Literal(true)),
  /** The sender is stopping. This is its last message. */
  bye: Schema.optionalKey(Schema.Literal(true)),
})
export type Message = typeof Message.Type

export const decodeMessage = Schema.decodeUnknownOption(Schema.fromJsonString(Message))
