import { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { FanOutPlan } from "../crowd/fan-out.ts"
import { buildRequest, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { barePublish, liveCommits } from "../side.ts"

const bare = barePublish()
const aims = [
  { metric: "rate", atLeast: 0.8 },
  { metric: "p99", atMost: 1.25 },
] as const

const channelName = (n: number): string =>
  `emoji_id:${new EmojiId([n % 400, Math.floor(n / 400) % 400, 1]).canonical}`

/**
 * A client of the bare server sends one frame, the name of its channel, and gets one response. A client of the
 * service sends two frames, `connect` and `subscribe`, and gets two responses.
 */
const plan = (target: Target, channels: number, publishers: number): FanOutPlan => {
  const isBare = target.side === bare.name
  const triggers = Array.from({ length: channels }, (_, n) =>
    buildRequest(target, {
      method: "POST",
      path: `/publish/${isBare ? n : encodeURIComponent(channelName(n))}`,
    }),
  )
  const hello = (n: number) =>
    isBare
      ? [String(n)]
      : ['{"type":"connect"}', JSON.stringify({ type: "subscribe", channel: channelName(n) })]
  return {
    path: "/live",
    hello: (socket) => hello(socket % channels),
    helloAnswers: isBare ? 1 : 2,
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
  against: [{ side: bare, aims }],
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
