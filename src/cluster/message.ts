import { Schema } from "effect"

const Pair = Schema.Tuple([Schema.String, Schema.String])

/** A message between processes. Any message may be lost, repeated or late. */
export const Message = Schema.Struct({
  from: Schema.String,
  /**
   * Marks: the number, the deadline of the write by the clock of the database, and the keys, which the receiver must
   * not cache until the write has ended.
   */
  marks: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.Int, Schema.Finite, Schema.Array(Pair)]))),
  /** The sender receives no messages. The receivers acknowledge its marks when they renew their leases. */
  hearsNothing: Schema.optionalKey(Schema.Literal(true)),
  /** Marks of the sender whose writes have ended. */
  done: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** Marks of the receiver that the sender has applied. */
  acks: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** Sent by a process to itself, after the statement of its lease with this number. */
  echo: Schema.optionalKey(Schema.Int),
  /** Sent by a process to all, to learn whether it receives such messages itself. */
  loopback: Schema.optionalKey(Schema.Literal(true)),
  wakes: Schema.optionalKey(Schema.Array(Pair)),
  /** Wake-ups were dropped because too many were pending. */
  wakesLost: Schema.optionalKey(Schema.Literal(true)),
  /** The sender does not receive messages through Redis. Wake-ups for it must be sent through the database. */
  deaf: Schema.optionalKey(Schema.Literal(true)),
  /** The sender has joined, so writes now need its acknowledgement. */
  hello: Schema.optionalKey(Schema.Literal(true)),
  /** The sender has left. */
  bye: Schema.optionalKey(Schema.Literal(true)),
})
export type Message = typeof Message.Type

export const decodeMessage = Schema.decodeUnknownOption(Schema.fromJsonString(Message))

/** What the database tells a process about the cluster. See schema/sql/functions/cluster.sql. */
export interface ClusterView {
  readonly now: number
  readonly xid: number
  readonly xmin: number
  readonly members: ReadonlyArray<{
    readonly id: string
    readonly remainingMs: number
    readonly deaf: boolean
    readonly openFrom: number
    /** Marks that the member has applied, of processes that receive no messages. */
    readonly held: ReadonlyArray<readonly [from: string, number: number]>
  }>
}
