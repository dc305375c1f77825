import type { CrowdPlan } from "../crowd/crowd.ts"
import type { Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { barePublish } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { service } from "../subject.ts"

const bare = barePublish("bare sockets")
const channels = 1_000

/** Each client is connected and subscribed to one channel, like a wallet with an open send dialog. */
const listener = (target: Target): CrowdPlan => {
  const isBare = target.side === bare.name
  const name = (socket: number) => `emoji_id:${canonicalAt(socket % channels)}`
  return {
    path: "/live",
    hello: (socket) =>
      isBare
        ? [name(socket)]
        : ['{"type":"connect"}', JSON.stringify({ type: "subscribe", channel: name(socket) })],
    helloAnswers: isBare ? 1 : 2,
  }
}

export const idleSockets: Scenario = {
  name: "idle-sockets",
  summary: "memory of an idle subscriber, with 10,000 subscribers on 1,000 channels",
  connections: 10_000,
  runs: 1,
  setupSeconds: 15,
  subject: service(),
  against: [{ side: bare, aims: [{ metric: "memory", atMost: 8, isDifference: true }] }],
  idle: listener,
}

export const reconnectStorm: Scenario = {
  name: "reconnect-storm",
  summary: "2,000 subscribers disconnect and reconnect simultaneously",
  onRequest: true,
  connections: 2_000,
  subject: service(),
  against: [{ side: bare }],
  reconnect: listener,
}
