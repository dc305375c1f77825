import { Schema } from "effect"
import { clientFrames, closeCodes, liveLimits, serverFrames } from "../../schema/live-frames.ts"
import { channelKinds } from "./channel-names.ts"

type Json = Record<string, unknown>

const summaries: Readonly<Record<keyof typeof clientFrames | keyof typeof serverFrames, string>> = {
  connect: "The first frame, within five seconds; again with a new token before the old one ends",
  subscribe: "Listens to a channel; with epoch and offset it resumes there",
  unsubscribe: "Stops listening",
  lookup: "Asks for the records of ids",
  ping: "Asks for a pong",
  connected: "Who the socket belongs to and until when",
  subscribed: "Where the channel is; with the state unless nothing was missed",
  unsubscribed: "Nothing more comes from this channel",
  event: "Something happened on a channel",
  records: "Answers a lookup",
  error: "A frame could not be honoured; the socket stays open",
  pong: "Answers a ping",
}

const channelSummaries: Readonly<Record<keyof typeof channelKinds, string>> = {
  cart: "The caller's open order: changes, its deadline, its end",
  transfers: "Transfers the caller sends or receives",
  lootboxes: "Lootboxes of the caller",
  session: "The caller's sessions: a second factor is needed, logged out",
  interests: "An id the caller is interested in became free",
  order: "One order, for its owner and for admins",
  transfer: "One transfer, for both parties and for admins",
  emoji_id: "Records or owner of an id changed; public",
  market: "Purchases and releases; public",
}
const channelKeys: Partial<Record<keyof typeof channelKinds, string>> = {
  order: "order:{id}",
  transfer: "transfer:{id}",
  emoji_id: "emoji_id:{emoji_id}",
}

/** The live protocol as AsyncAPI 3.0, made from the schemas the socket itself decodes with. */
export const asyncApi = (baseUrl: string) => {
  const schemas: Json = {}
  const inComponents = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll("#/$defs/", "#/components/schemas/"))
  const payload = (schema: Schema.Top): unknown => {
    const document = Schema.toJsonSchemaDocument(Schema.toEncoded(schema))
    Object.assign(schemas, inComponents(document.definitions))
    return inComponents(document.schema)
  }
  const messages = Object.fromEntries(
    Object.entries({ ...clientFrames, ...serverFrames }).map(([name, schema]) => [
      name,
      {
        name,
        summary: summaries[name as keyof typeof summaries],
        contentType: "application/json",
        payload: payload(schema),
      },
    ]),
  )
  const refs = (frames: object, prefix: string) =>
    Object.keys(frames).map((name) => ({ $ref: `${prefix}/messages/${name}` }))
  const server = new URL(baseUrl)

  return {
    asyncapi: "3.0.0",
    info: {
      title: "Emoji Id Directory Service, live",
      version: "0.2.262",
      description:
        "JSON frames over one WebSocket. Subscribing gives the state now, then every later change in order. Coming back with the last (epoch, offset) gives exactly what was missed, or `recovered: false` and the state.",
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
    "x-channels": Object.entries(channelKinds).map(([kind, audience]) => ({
      name: channelKeys[kind as keyof typeof channelKinds] ?? kind,
      audience: audience.who,
      summary: channelSummaries[kind as keyof typeof channelKinds],
    })),
    "x-close-codes": closeCodes,
    "x-limits": liveLimits,
  }
}
