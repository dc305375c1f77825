import { EmojiId } from "../../schema/directory/emoji-id.ts"
import { auditedDeliveries } from "../consistency/deliveries.ts"
import type { FanOutPlan } from "../crowd/fan-out.ts"
import { buildRequest, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { barePublish, liveCommits, plainWs, socketIo } from "../side.ts"

const bare = barePublish()
const ws = plainWs()
const io = socketIo()
const aims = [
  { metric: "rate", atLeast: 0.8 },
  { metric: "p99", atMost: 1.25 },
] as const

const channelName = (n: number): string =>
  `emoji_id:${new EmojiId([n % 400, Math.floor(n / 400) % 400, 1]).canonical}`

type Client = Pick<FanOutPlan, "path" | "hello" | "helloAnswers"> & Partial<FanOutPlan>

const pingOfEngineIo = { code: "2".charCodeAt(0), answer: "3" }

/**
 * Returns how a client of the side subscribes. A client of the bare server and of `ws` sends one frame, the name of its
 * channel, and gets one response. A client of socket.io gets a response to the handshake and one to its subscription.
 * A client of the service sends two frames, `connect` and `subscribe`, and gets two responses.
 */
export const clientOf = ({ side }: Target, channelOf: (socket: number) => number): Client => {
  if (side === bare.name || side === ws.name)
    return { path: "/live", hello: (socket) => [String(channelOf(socket))], helloAnswers: 1 }
  if (side === io.name) {
    return {
      path: "/live/?EIO=4&transport=websocket",
      hello: (socket) => [`40${JSON.stringify({ channel: String(channelOf(socket)) })}`],
      helloAnswers: 2,
      ping: pingOfEngineIo,
    }
  }
  const subscribe = (n: number) => JSON.stringify({ type: "subscribe", channel: channelName(n) })
  return {
    path: "/live",
    hello: (socket) => ['{"type":"connect"}', subscribe(channelOf(socket))],
    helloAnswers: 2,
    ...auditedDeliveries(),
  }
}

/** Returns the path of the request that publishes an event on channel n. */
export const publishPathOf = ({ side }: Target, n: number): string =>
  `/publish/${[bare.name, ws.name, io.name].includes(side) ? n : encodeURIComponent(channelName(n))}`

const plan = (target: Target, channels: number, publishers: number): FanOutPlan => {
  const triggers = Array.from({ length: channels }, (_, n) =>
    buildRequest(target, { method: "POST", path: publishPathOf(target, n) }),
  )
  return {
    ...clientOf(target, (socket) => socket % channels),
    channels,
    publishers,
    trigger: (round) => triggers[round % channels]!,
  }
}

export const fanOutOne: Scenario = {
  name: "fan-out-one",
  summary: "one channel with 10,000 subscribers: committed, read, encoded once, published",
  connections: 10_000,
  runs: 2,
  setupSeconds: 25,
  subject: liveCommits(),
  against: [{ side: bare, aims }, { side: ws }, { side: io }],
  // Only one event is published at a time. With several, the number of events per socket write would vary randomly,
  // and the writes dominate the cost.
  fanOut: (target) => plan(target, 1, 1),
}

export const fanOutMany: Scenario = {
  name: "fan-out-many",
  summary: "1,000 channels with ten subscribers each",
  connections: 10_000,
  runs: 2,
  setupSeconds: 25,
  subject: liveCommits(),
  against: [{ side: bare, aims }],
  fanOut: (target) => plan(target, 1000, 256),
}
