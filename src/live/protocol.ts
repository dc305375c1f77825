import { Result, Schema } from "effect"
import {
  ClientFrame,
  type ErrorFrame,
  type ServerFrame,
  type SubscribedFrame,
} from "../../schema/live-frames.ts"
import type { EventRow } from "../turns/event-store.ts"
import type { Frame } from "./replay-buffer.ts"

/** What the protocol needs of a socket; nothing here knows which kind it is. */
export interface Sink {
  send(frame: string | Frame): void
  /** From now on what is published under the topic reaches this socket, after everything sent to it before. */
  subscribe(topic: string): void
  unsubscribe(topic: string): void
  close(code: number, reason: string): void
  /** Ends the connection without a word: whoever does not read would not read that either. */
  cut(): void
  /** What was sent and has not left yet. */
  bufferedBytes(): number
  /** All that was sent to this socket alone; no more than it was. */
  sentBytes(): number
}

const decode = Schema.decodeUnknownResult(ClientFrame)

/** By what a client knows which of its frames is meant. */
export type Reference = Pick<ErrorFrame, "id" | "channel">

export const referenceTo = (frame: unknown): Reference => {
  const { channel, id } = Object(frame) as { readonly channel?: unknown; readonly id?: unknown }
  return {
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof id === "string" ? { id } : {}),
  }
}

/** Without a type: not a frame of this protocol. */
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

/** The state is JSON text already and goes in as it is. */
export const encodeSubscribed = (
  frame: Omit<SubscribedFrame, "type" | "state">,
  state: string | undefined,
): string => {
  const head = JSON.stringify({ type: "subscribed", ...frame })
  return state === undefined ? head : `${head.slice(0, -1)},"state":${state}}`
}

/** How every event of a channel begins. */
export const eventHead = (shown: string): string =>
  `{"type":"event","channel":${JSON.stringify(shown)},"offset":`

/** Once per event, however many listen. */
export const encodeEvent = (head: string, { at, data, offset, type }: EventRow): Frame =>
  Buffer.from(`${head}${offset},"event":${JSON.stringify(type)},"data":${data},"at":"${at}"}`)
