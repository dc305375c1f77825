import { Schema } from "effect"
import { liveEvents } from "../../schema/live-events.ts"
import { clientFrames, closeCodes, liveLimits, serverFrames } from "../../schema/live-frames.ts"
import { contractVersion } from "../config/product-version.ts"
import { componentSchemas, type Json } from "../http/openapi/json-schema.ts"
import { channelKinds } from "./channel-names.ts"

const summaries: Readonly<Record<keyof typeof clientFrames | keyof typeof serverFrames, string>> = {
  connect:
    "Authenticates the socket. Send it first, within five seconds, and again before the token expires.",
  subscribe: "Subscribes to a channel. With epoch and offset, resumes after that position.",
  unsubscribe: "Ends a subscription.",
  lookup: "Requests the records of emoji ids.",
  ping: "Requests a pong.",
  connected: "Confirms connect: the user of the socket and when the token expires.",
  subscribed: "Confirms a subscription: the position, and the state unless the client resumed.",
  unsubscribed: "Confirms the end of a subscription. No further events of the channel follow.",
  event: "An event of a channel.",
  records: "The result of a lookup.",
  error: "A frame was rejected. The socket stays open.",
  pong: "The reply to a ping.",
}

const channelSummaries: Readonly<Record<keyof typeof channelKinds, string>> = {
  cart: "The user's open order: changes, payment deadline, expiry.",
  transfers:
    "Transfers that the user sends or receives. Received ones appear when the user has confirmed the email address.",
  lootboxes: "Lootboxes of the user.",
  session: "Sessions of the user: second factor required, verified, stale or locked; signed out.",
  interests: "An emoji id on the user's interest list became available.",
  emoji_ids:
    "Changes of the emoji ids that the user owns, also of one that got another owner or was removed.",
  order: "One order. For its owner and admins.",
  transfer: "One transfer. For both parties and admins; the recipient must have confirmed the email address.",
  emoji_id: "Changes of the records or the owner of an emoji id. Public.",
  market: "Purchases and releases of emoji ids. Public.",
}
const channelKeys: Partial<Record<keyof typeof channelKinds, string>> = {
  order: "order:{id}",
  transfer: "transfer:{id}",
  emoji_id: "emoji_id:{emoji_id}",
}

const eventsOf = (channel: string): ReadonlyArray<string> =>
  Object.entries<{ readonly channels: ReadonlyArray<string> }>(liveEvents).flatMap(([event, { channels }]) =>
    channels.includes(channel) ? [event] : [],
  )

/** An example of an event, which `npm run docs` has recorded. */
export interface EventExample {
  readonly channel: string
  readonly offset: number
  readonly at: string
  readonly data: unknown
}
export type EventExamples = Readonly<Record<string, EventExample>>

/** A message for each type of event: an event frame with this type and with the data that the type has. */
const eventMessages = (ref: (schema: Schema.Top) => Json, examples: EventExamples) =>
  Object.fromEntries(
    Object.entries(liveEvents).map(([event, { data, summary }]) => {
      const payload = ref(Schema.Struct({ ...serverFrames.event.fields, event: Schema.Literal(event), data }))
      const example = examples[event]
      return [
        event,
        {
          name: event,
          summary,
          contentType: "application/json",
          payload,
          ...(example !== undefined && {
            examples: [{ name: "recorded", payload: { type: "event", event, ...example } }],
          }),
        },
      ]
    }),
  )

/** Describes the live protocol as AsyncAPI 3.1, generated from the schemas that the socket uses. */
export const asyncApi = (baseUrl: string, examples: EventExamples = {}) => {
  const { ref, schemas } = componentSchemas()
  const messages = Object.fromEntries(
    Object.entries({ ...clientFrames, ...serverFrames }).map(([name, schema]) => [
      name,
      {
        name,
        summary: summaries[name as keyof typeof summaries],
        contentType: "application/json",
        payload: ref(schema),
      },
    ]),
  )
  const events = eventMessages(ref, examples)
  const refs = (frames: object, prefix: string) =>
    Object.keys(frames).map((name) => ({ $ref: `${prefix}/messages/${name}` }))
  const server = new URL(baseUrl)

  return {
    asyncapi: "3.1.0",
    info: {
      title: "Emoji Id Directory Service, live",
      version: contractVersion,
      description:
        "JSON frames over one WebSocket. A subscriber receives the current state, then every later event in order. A client that reconnects with its last (epoch, offset) receives the events it missed, or `recovered: false` and the current state.",
    },
    defaultContentType: "application/json",
    servers: {
      service: {
        host: server.host,
        pathname: server.pathname === "/" ? "" : server.pathname,
        protocol: server.protocol === "https:" ? "wss" : "ws",
      },
    },
    channels: {
      live: {
        address: "/live",
        messages: Object.fromEntries(
          Object.keys({ ...messages, ...events }).map((name) => [
            name,
            { $ref: `#/components/messages/${name}` },
          ]),
        ),
      },
    },
    operations: {
      clientSends: {
        action: "receive",
        channel: { $ref: "#/channels/live" },
        messages: refs(clientFrames, "#/channels/live"),
      },
      serverSends: {
        action: "send",
        channel: { $ref: "#/channels/live" },
        messages: refs({ ...serverFrames, ...events }, "#/channels/live"),
      },
    },
    components: { messages: { ...messages, ...events }, schemas },
    "x-channels": Object.entries(channelKinds).map(([kind, audience]) => ({
      name: channelKeys[kind as keyof typeof channelKinds] ?? kind,
      audience: audience.who,
      summary: channelSummaries[kind as keyof typeof channelKinds],
      events: eventsOf(channelKeys[kind as keyof typeof channelKinds] ?? kind),
    })),
    "x-close-codes": closeCodes,
    "x-limits": liveLimits,
  }
}
