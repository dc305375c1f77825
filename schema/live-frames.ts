import { Schema } from "effect"
import { DateTime, Json, optional, Uuid } from "./wire-format.ts"

/** The frames of `GET /live`. PROTOCOL.md beside the code that speaks them says what each one means. */

export const liveLimits = {
  frameBytes: 64 * 1024,
  channelCharacters: 256,
  tokenCharacters: 4096,
  subscriptions: 256,
  lookupIds: 50,
  /** Of the records in one answer, twice what a single id may have: an id may be asked for again and again in one frame. */
  lookupCharacters: 2 * 1024 * 1024,
  /** Lookups of one socket that wait for their turn. */
  lookupsWaiting: 512,
  /** Frames a client may send at once, and per second in the long run. */
  burstFrames: 512,
  framesPerSecond: 50,
  connectWithinSeconds: 5,
  idleSeconds: 60,
  /** More missed events than this are not sent one by one: the client gets the state instead. */
  replayEvents: 1000,
} as const

/** Why the server closes a socket, and so what the client should do next. */
export const closeCodes = {
  restart: 1012,
  tryLater: 1013,
  defect: 1011,
  badFrames: 4400,
  unauthorized: 4401,
  tokenExpired: 4402,
  sessionEnded: 4403,
  connectTimeout: 4408,
  tooManyFrames: 4429,
} as const

const text = (characters: number) => Schema.String.check(Schema.isMaxLength(characters))
const Offset = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const ChannelName = text(liveLimits.channelCharacters)
/** Chosen by the client, repeated in the answer. */
const RequestId = text(64)

export const ConnectFrame = Schema.Struct({
  type: Schema.Literal("connect"),
  token: optional(text(liveLimits.tokenCharacters)),
}).annotate({ identifier: "ConnectFrame" })

export const SubscribeFrame = Schema.Struct({
  type: Schema.Literal("subscribe"),
  channel: ChannelName,
  epoch: optional(Uuid),
  offset: optional(Offset),
}).annotate({ identifier: "SubscribeFrame" })

export const UnsubscribeFrame = Schema.Struct({
  type: Schema.Literal("unsubscribe"),
  channel: ChannelName,
}).annotate({ identifier: "UnsubscribeFrame" })

export const LookupFrame = Schema.Struct({
  type: Schema.Literal("lookup"),
  id: optional(RequestId),
  emoji_ids: Schema.Array(text(liveLimits.channelCharacters)).check(
    Schema.isBetweenLength(1, liveLimits.lookupIds),
  ),
}).annotate({ identifier: "LookupFrame" })

export const PingFrame = Schema.Struct({
  type: Schema.Literal("ping"),
  id: optional(RequestId),
}).annotate({ identifier: "PingFrame" })

export const clientFrames = {
  connect: ConnectFrame,
  subscribe: SubscribeFrame,
  unsubscribe: UnsubscribeFrame,
  lookup: LookupFrame,
  ping: PingFrame,
} as const
export const ClientFrame = Schema.Union([
  ConnectFrame,
  SubscribeFrame,
  UnsubscribeFrame,
  LookupFrame,
  PingFrame,
])
export type ClientFrame = typeof ClientFrame.Type

const ConnectedFrame = Schema.Struct({
  type: Schema.Literal("connected"),
  /** Null without a token: only public channels are open. */
  user_id: Schema.NullOr(Schema.String),
  /** Send another `connect` with a new token before this. */
  expires_at: Schema.NullOr(DateTime),
}).annotate({ identifier: "ConnectedFrame" })

const SubscribedFrame = Schema.Struct({
  type: Schema.Literal("subscribed"),
  channel: Schema.String,
  /** The name as it was asked for, when it was spelled otherwise. */
  requested: Schema.optionalKey(Schema.String),
  epoch: Schema.String,
  /** The events that follow begin at the next offset. */
  offset: Offset,
  /** True: nothing was lost since the position the client named. False: forget what you had, here is the state. */
  recovered: Schema.Boolean,
  state: Schema.optionalKey(Json),
}).annotate({ identifier: "SubscribedFrame" })

const UnsubscribedFrame = Schema.Struct({
  type: Schema.Literal("unsubscribed"),
  channel: Schema.String,
  reason: Schema.Literals(["asked", "not_allowed"]),
}).annotate({ identifier: "UnsubscribedFrame" })

const EventFrame = Schema.Struct({
  type: Schema.Literal("event"),
  channel: Schema.String,
  offset: Offset,
  /** `noun.verb`, such as cart.expired. */
  event: Schema.String,
  data: Json,
  at: DateTime,
}).annotate({ identifier: "EventFrame" })

/** What `lookup` answers for each id, and the state of an `emoji_id` channel. */
export const LookupResult = Schema.Struct({
  /** As it was asked for. */
  emoji_id: Schema.String,
  /** Null when it is no emoji id. */
  canonical: Schema.NullOr(Schema.String),
  status: Schema.Boolean,
  result: Schema.Array(Schema.Struct({ tag: Schema.String, data: Schema.String, hash: Schema.String })),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, reason: Schema.String })),
  /** The key the id belongs to. */
  pubkey: Schema.NullOr(Schema.String),
  /** Rises with every change of the id. */
  version: Schema.Int,
}).annotate({ identifier: "LiveLookupResult" })
export type LookupResult = typeof LookupResult.Type

const RecordsFrame = Schema.Struct({
  type: Schema.Literal("records"),
  id: Schema.optionalKey(Schema.String),
  /** In the order of the question. */
  results: Schema.Array(LookupResult),
}).annotate({ identifier: "RecordsFrame" })

export const errorCodes = [
  "bad_frame",
  "not_connected",
  "user_changed",
  "unknown_channel",
  "login_required",
  "forbidden",
  "not_found",
  "too_many_subscriptions",
  "too_large",
  "unavailable",
] as const

const ErrorFrame = Schema.Struct({
  type: Schema.Literal("error"),
  code: Schema.Literals(errorCodes),
  error: Schema.String,
  channel: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "ErrorFrame" })
export type ErrorFrame = typeof ErrorFrame.Type

const PongFrame = Schema.Struct({
  type: Schema.Literal("pong"),
  id: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "PongFrame" })

export const serverFrames = {
  connected: ConnectedFrame,
  subscribed: SubscribedFrame,
  unsubscribed: UnsubscribedFrame,
  event: EventFrame,
  records: RecordsFrame,
  error: ErrorFrame,
  pong: PongFrame,
} as const
export type ServerFrame = {
  [K in keyof typeof serverFrames]: (typeof serverFrames)[K]["Type"]
}[keyof typeof serverFrames]
export type EventFrame = typeof EventFrame.Type
export type SubscribedFrame = typeof SubscribedFrame.Type
