import { Schema } from "effect"
import { DateTime, Json, optional, Uuid } from "./wire-format.ts"

/** This file defines the frames of the WebSocket `GET /live`. `src/live/PROTOCOL.md` describes them. */

export const liveLimits = {
  frameBytes: 64 * 1024,
  channelCharacters: 256,
  tokenCharacters: 4096,
  subscriptions: 256,
  lookupIds: 50,
  /**
   * The maximum length of the record data in one `records` frame: twice the maximum of one id. This limit is needed
   * because one lookup can contain many ids, and the same id several times.
   */
  lookupCharacters: 2 * 1024 * 1024,
  /** The maximum number of lookups that wait per socket. */
  lookupsWaiting: 512,
  /**
   * The rate limit of client frames: a client may send `burstFrames` frames immediately, and then `framesPerSecond`.
   */
  burstFrames: 512,
  framesPerSecond: 50,
  connectWithinSeconds: 5,
  idleSeconds: 60,
  /**
   * The maximum number of missed events that are sent again. A client that missed more receives the current state
   * instead.
   */
  replayEvents: 1000,
} as const

/** Close codes. PROTOCOL.md describes what the client should do after each of them. */
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
/** An id that the client chooses. The reply contains the same id. */
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
  proof: optional(Schema.Boolean).annotateKey({
    description: "If true, the states of an `emoji_id` channel have a proof. Other channels ignore it.",
  }),
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
  proof: optional(Schema.Boolean).annotateKey({ description: "If true, each result has a proof." }),
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
  /** Null if the client sent no token. The socket can then subscribe only to public channels. */
  user_id: Schema.NullOr(Schema.String),
  /**
   * The time when the token expires. Send `connect` with a new token before this time. Null if the client sent no
   * token.
   */
  expires_at: Schema.NullOr(DateTime),
}).annotate({ identifier: "ConnectedFrame" })

const SubscribedFrame = Schema.Struct({
  type: Schema.Literal("subscribed"),
  channel: Schema.String,
  /** The channel name as the client sent it, if it differs from `channel`. */
  requested: Schema.optionalKey(Schema.String),
  epoch: Schema.String,
  /** The client's position in the channel after this frame. The next event has this offset plus one. */
  offset: Offset,
  /**
   * If true, the missed events follow. If false, the client must replace everything it knows about the channel with
   * `state`.
   */
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
  event: Schema.String.annotate({ description: "The type of the event, for example `cart.expired`." }),
  data: Json.annotate({
    description: "What the event is about. Its members depend on the type of the event.",
  }),
  at: DateTime,
}).annotate({ identifier: "EventFrame" })

/** One result of a `lookup` frame. It is also the state of an `emoji_id` channel. */
export const LookupResult = Schema.Struct({
  /** The emoji id as the client sent it. */
  emoji_id: Schema.String,
  /** Null if the text is not a valid emoji id. */
  canonical: Schema.NullOr(Schema.String),
  status: Schema.Boolean,
  result: Schema.Array(Schema.Struct({ tag: Schema.String, data: Schema.String, hash: Schema.String })),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, reason: Schema.String })),
  pubkey: Schema.NullOr(Schema.String).annotate({
    description: "The public key that owns the emoji id. Null if there is none.",
  }),
  version: Schema.Int.annotate({
    description: "The version of the emoji id. It increases with every change of the emoji id.",
  }),
  proof: Schema.optionalKey(Schema.String).annotateKey({
    description: "A signed statement about this result, as a compact JWS. Only if it was requested.",
  }),
}).annotate({ identifier: "LiveLookupResult" })
export type LookupResult = typeof LookupResult.Type

const RecordsFrame = Schema.Struct({
  type: Schema.Literal("records"),
  id: Schema.optionalKey(Schema.String),
  /** One result per requested id, in the order of the request. */
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
