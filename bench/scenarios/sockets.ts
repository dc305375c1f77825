import type { CrowdPlan } from "../crowd/crowd.ts"
import type { Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { barePublish, type RunningServer } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { service } from "../subject.ts"

const bare = barePublish("bare sockets")
const channels = 1_000

/**
 * Each client is connected and subscribed to one channel, like a wallet with an open send dialog. With `epoch`, it resumes
 * at the position that it had before.
 */
const listener = (target: Target, epoch?: string): CrowdPlan => {
  const isBare = target.side === bare.name
  const position = epoch === undefined ? {} : { epoch, offset: 0 }
  const name = (socket: number) => `emoji_id:${canonicalAt(socket % channels)}`
  return {
    path: "/live",
    hello: (socket) =>
      isBare
        ? [name(socket)]
        : ['{"type":"connect"}', JSON.stringify({ type: "subscribe", channel: name(socket), ...position })],
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
  idle: (target) => listener(target),
}

/** All channels have the same epoch, and their offset is 0, because they have no events. */
const readEpoch = async (server: RunningServer): Promise<string> => {
  let epoch = ""
  await openStored(server, async (sql) => {
    const [row] = await sql<[{ epoch: string }]>`select epoch from live_epoch`
    epoch = row.epoch
  })
  return epoch
}

export const reconnectStorm: Scenario<string> = {
  name: "reconnect-storm",
  summary: "2,000 subscribers disconnect, reconnect simultaneously and resume",
  onRequest: true,
  connections: 2_000,
  subject: service(),
  against: [{ side: bare, aims: [{ metric: "cpu", atMost: 3 }] }],
  firstWarmupSeconds: 4,
  prepare: readEpoch,
  reconnect: listener,
}
