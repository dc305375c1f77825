import { Result, Schema } from "effect"
import {
  ClientFrame,
  type ErrorFrame,
  type ServerFrame,
  type SubscribedFrame,
} from "../../schema/live-frames.ts"
import type { EventRow } from "../turns/event-store.ts"
import type { Frame } from "./replay-buffer.ts"

/** The interface of a socket, independent of the transport. */
export interface Sink {
  /** The group of the client's address, for limits. */
  readonly address?: string
  send(frame: string | Frame): void
  /**
   * Subscribes the socket to the topic. Later frames of the topic arrive after all frames that were already sent to
   * the socket.
   */
  subscribe(topic: string): void
  unsubscribe(topic: string): void
  close(code: number, reason: string): void
  /** Ends the connection without a close frame. A client that does not read would not read the frame either. */
  cut(): void
  /** Bytes that were sent but have not left the process yet. */
  bufferedBytes(): number
  /** A lower bound of the bytes sent to this socket. Frames published to topics are not counted. */
  sentBytes(): number
}

const decode = Schema.decodeUnknownResult(ClientFrame)

/** Identifies the frame of the client that an error refers to. */
export type Reference = Pick<ErrorFrame, "id" | "channel">

export const referenceTo = (frame: unknown): Reference => {
  const { channel, id } = Object(frame) as { readonly channel?: unknown; readonly id?: unknown }
  return {
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof id === "string" ? { id } : {}),
  }
}

/** Decodes a frame. The result has no `type` if the text is not a frame of this protocol. */
export const decodeClientFrame = (text: string): ClientFrame | (Reference & { readonly type?: never }) => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return {}
  }
  const frame = decode(value)
  return Result.isSuccess(frame) ? frame.success : referenceTo(value)
}

export const encode = (frame: Exclude<ServerFrame, { type: "event" | "subscribed" }>): string =>
  JSON.stringify(frame)

/** Encodes `subscribed`. The state is JSON text already and is inserted unchanged. */
export const encodeSubscribed = (
  frame: Omit<SubscribedFrame, "type" | "state">,
  state: string | undefined,
): string => {
  const head = JSON.stringify({ type: "subscribed", ...frame })
  return state === undefined ? head : `${head.slice(0, -1)},"state":${state}}`
}

/** The first part of every event frame of a channel. */
export const eventHead = (shown: string): string =>
  `{"type":"event","channel":${JSON.stringify(shown)},"offset":`

/** Encodes an event. Called once per event, whatever the number of subscribers. */
export const encodeEvent = (head: string, { at, data, offset, type }: EventRow): Frame =>
  Buffer.from(`${head}${offset},"event":${JSON.stringify(type)},"data":${data},"at":"${at}"}`)
