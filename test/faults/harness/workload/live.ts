import { setTimeout as sleep } from "node:timers/promises"
import type postgres from "postgres"
import { WebSocket } from "ws"
import type { Luck } from "../../../fixtures/walk.ts"
import type { Member } from "../fleet/member.ts"
import { LiveLog } from "../oracle/live-log.ts"
import type { Body } from "./api.ts"
import type { World } from "./world.ts"

const shortestMs = 2_000
const moreMs = 8_000
const reconnectMs = 200
const channelsPerSocket = 8
const closePatienceMs = 1_000
const catchUpMs = 20_000

/** Follows channels at one process for a while. The log has the positions to resume from. */
const follow = (member: Member, log: LiveLog, channels: ReadonlyArray<string>, over: Promise<unknown>) =>
  new Promise<void>((resolve) => {
    const socket = new WebSocket(`${member.url.replace("http", "ws")}/live`, { handshakeTimeout: 5_000 })
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: "connect" }))
      for (const channel of channels)
        socket.send(JSON.stringify({ type: "subscribe", channel, ...log.asksFor(channel) }))
    }
    let isOpen = true
    socket.onmessage = ({ data }) => {
      // Frames that arrive after the position was used to resume elsewhere are not counted.
      if (isOpen) log.hear(member.name, JSON.parse(String(data)) as Body)
    }
    const end = () => {
      isOpen = false
      resolve()
    }
    socket.onerror = () => end()
    socket.onclose = () => end()
    void over.then(async () => {
      end()
      socket.close()
      await sleep(closePatienceMs)
      socket.terminate()
    })
  })

/** A live client that reconnects to another process again and again, and resumes each channel. */
export const watch = async (world: World, luck: Luck): Promise<LiveLog> => {
  const { api, isOver, users } = world
  const ids = users.map(({ edited }) => edited.id)
  const channels = Array.from({ length: channelsPerSocket }, () => `emoji_id:${luck.pick(ids)}`)
  const log = new LiveLog(api.violations, [...new Set([...channels, "market"])])
  while (!isOver()) {
    const lasts = sleep(shortestMs + luck.below(moreMs))
    await follow(luck.pick(api.members)!, log, log.channels, lasts)
    await sleep(luck.below(reconnectMs))
  }
  return log
}

/** After the run: resumes all channels at one process until every event of the database has arrived. */
export const catchUp = async (
  member: Member,
  log: LiveLog,
  sql: postgres.Sql,
): Promise<ReadonlyArray<string>> => {
  let missing: ReadonlyArray<string> = []
  const complete = (async () => {
    for (const until = Date.now() + catchUpMs; ; await sleep(reconnectMs)) {
      missing = await log.missing(sql)
      if (missing.length === 0 || Date.now() > until) return
    }
  })()
  await follow(member, log, log.channels, complete)
  return missing
}
