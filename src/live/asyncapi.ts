import type { Schema } from "effect"
import { IdChangedEvent } from "../../schema/directory/history.ts"
import { clientFrames, closeCodes, liveLimits, serverFrames } from "../../schema/live-frames.ts"
import { contractVersion } from "../config/product-version.ts"
import { componentSchemas } from "../http/openapi/json-schema.ts"
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
  session: "Sessions of the user: second factor required, verified, stale or locked; logged out.",
  interests: "An emoji id on the user's interest list became available.",
  emoji_ids:
    "Changes of the emoji ids that the user owns, also of one that got another owner or was removed.",
  order: "One order. For its owner and admins.",
  transfer: "One transfer. For both parties and admins; the recipient must have confirmed the email address.",
  emoji_id: "Changes of the records or the owner of an emoji id. Public.",
  market: "Purchases and releases of emoji ids. Public.",
}
/** The data of events, by their types. The data of other events is described in the protocol. */
const eventData: Partial<Record<keyof typeof channelKinds, Readonly<Record<string, Schema.Top>>>> = {
  emoji_ids: { "emoji_ids.changed": IdChangedEvent },
}
const channelKeys: Partial<Record<keyof typeof channelKinds, string>> = {
  order: "order:{id}",
  transfer: "transfer:{id}",
  emoji_id: "emoji_id:{emoji_id}",
}

/** Describes the live protocol as AsyncAPI 3.1, generated from the schemas that the socket uses. */
export const asyncApi = (baseUrl: string) => {
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
  const refs = (frames: object, prefix: string) =>
    Object.keys(frames).map((name) => ({ $ref: `${prefix}/messages/${name}` }))
  const server = new URL(baseUrl)
  const channels = Object.entries(channelKinds).map(([name, audience]) => {
    const kind = name as keyof typeof channelKinds
    const events = Object.entries(eventData[kind] ?? {})
    return {
      name: channelKeys[kind] ?? kind,
      audience: audience.who,
      summary: channelSummaries[kind],
      ...(events.length > 0 && {
        events: Object.fromEntries(events.map(([type, data]) => [type, ref(data)])),
      }),
    }
  })

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
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
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
        messages: refs(serverFrames, "#/channels/live"),
      },
    },
    components: { messages, schemas },
    "x-channels": channels,
    "x-close-codes": closeCodes,
    "x-limits": liveLimits,
  }
}
