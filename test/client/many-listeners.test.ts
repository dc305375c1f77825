import { afterEach, beforeAll, expect, it } from "vitest"
import { WebSocket } from "ws"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import { maxRecordBytes } from "../../schema/directory/records/record.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import { createClient } from "../../src/client/client.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { until } from "./until.ts"

let service: TestService
let client: ReturnType<typeof createClient>
let sockets: Array<WebSocket>

class Watched extends WebSocket {
  constructor(url: string) {
    super(url)
    sockets.push(this)
  }
}

beforeAll(async () => {
  service = await serve()
})
afterEach(() => client.live.close())

const connect = () => {
  sockets = []
  client = createClient({
    baseUrl: service.url,
    WebSocket: Watched,
    backoff: { firstMs: 20, longestMs: 50 },
  })
}
const quiet = { event: () => {} }

it("ending a subscription does not stop a new subscription to the same id in another spelling", async () => {
  connect()
  let [first, second] = [0, 0]
  const leave = client.live.subscribe("emoji_id:❤️🌊", { ...quiet, state: () => void first++ })
  await until(() => first === 1)
  client.live.subscribe("emoji_id:❤🌊", { ...quiet, state: () => void second++ })
  leave()
  await until(() => second > 0)
})

it("a subscription still receives events after another subscription to the same id, in another spelling, has ended", async () => {
  connect()
  const received: Array<string> = []
  let states = 0
  client.live.subscribe("emoji_id:❤️🚀", {
    state: () => void states++,
    event: ({ event }) => void received.push(event),
  })
  await until(() => states === 1)
  client.live.subscribe("emoji_id:❤🚀", { ...quiet, state: () => {} })()
  await client.live.lookup(["🌊"])
  const owner = await service.user({ role: "Admin" })
  const body = { emoji_id: "❤️🚀", user_id: owner.id }
  expect((await service.call("POST", "/emoji_id", { token: owner.token, body })).status).toBe(200)
  await until(() => received.length > 0)
})

it("a client with more listeners on one channel than the frame limit can subscribe and reconnect", async () => {
  connect()
  const parts = liveLimits.burstFrames + 100
  let reported = 0
  for (let n = 0; n < parts; n++) client.live.subscribe("market", { ...quiet, state: () => void reported++ })
  await until(() => reported >= parts)
  sockets[0]!.terminate()
  await until(() => sockets.length === 2 && client.live.status === "connected")
  await client.live.lookup(["🌊"])
  expect(sockets).toHaveLength(2)
})

it("all lookups get results when a program starts more lookups at once than the frame limit allows", async () => {
  connect()
  const questions = liveLimits.burstFrames + 100
  const answers = await Promise.all(Array.from({ length: questions }, () => client.live.lookup(["🌊"])))
  expect(answers).toHaveLength(questions)
  expect(sockets).toHaveLength(1)
})

it("a lookup returns the results in order for more ids than fit into one frame, and `[]` for no ids", async () => {
  connect()
  const emoji = ["🌊", "🚀", "🐙", "🎈", "🔥", "🍀", "🎲", "🍕"]
  const ids = emoji.flatMap((first) => emoji.map((second) => first + second))
  expect(ids.length).toBeGreaterThan(liveLimits.lookupIds)
  expect((await client.live.lookup(ids)).map(({ emoji_id }) => emoji_id)).toEqual(ids)
  expect(await client.live.lookup([])).toEqual([])
})

it("a lookup returns all records in the order of the ids when the records do not fit into one frame", async () => {
  connect()
  const owner = await service.user({ role: "Admin" })
  const crowded = ["🐙🔥", "🐙🎈", "🐙🍀"]
  for (const emoji_id of crowded) {
    const body = { emoji_id, user_id: owner.id }
    expect((await service.call("POST", "/emoji_id", { token: owner.token, body })).status).toBe(200)
    await service.sql`insert into record (canonical, hash, tag, data)
      select ${emoji_id}, n::text, ${0x5001}, repeat('x', ${maxRecordBytes}) from generate_series(1, ${maxRecordsPerId}) n`
  }
  const ids = ["🌊", ...crowded, "🚀"]
  const found = await client.live.lookup(ids)
  expect(found.map(({ emoji_id }) => emoji_id)).toEqual(ids)
  expect(found.map(({ result }) => result.length)).toEqual([0, ...crowded.map(() => maxRecordsPerId), 0])
})

it("`watchId` reports a change when the socket already has the maximum number of subscriptions", async () => {
  connect()
  const owner = await service.user({ role: "Admin" })
  const emoji_id = "🍕🍕🔥"
  const body = { emoji_id, user_id: owner.id }
  expect((await service.call("POST", "/emoji_id", { token: owner.token, body })).status).toBe(200)
  const emoji = [..."🌊🚀🐙🎈🔥🍀🎲🍕🐶🐱🐭🐰🦊🐻🐼🐨"]
  const others = emoji.flatMap((first) => emoji.map((second) => first + second))
  expect(others).toHaveLength(liveLimits.subscriptions)
  let opened = 0
  for (const other of others)
    client.live.subscribe(`emoji_id:${other}`, { ...quiet, state: () => void opened++ })
  await until(() => opened === others.length)
  const reported: Array<number> = []
  client.watchId(emoji_id, ({ result }) => void reported.push(result.length))
  await until(() => reported.length > 0)
  const insert = [{ tag: "0x5001", data: "changed" }]
  const path = `/emoji_id/${encodeURIComponent(emoji_id)}`
  expect((await service.call("PATCH", path, { token: owner.token, body: { insert } })).status).toBe(200)
  await until(() => reported.at(-1) === 1)
})

it("`watchId` reports an error for an invalid emoji id", async () => {
  connect()
  const found: Array<string | undefined> = []
  client.watchId("octopus", ({ error }) => void found.push(error?.code))
  await until(() => found.length === 1)
  expect(found[0]).not.toBeUndefined()
})

it("a text longer than the protocol limit is reported as an invalid emoji id, without a reconnect", async () => {
  connect()
  const invoice = `lnbc${"1".repeat(liveLimits.channelCharacters)}`
  const found: Array<string | undefined> = []
  client.watchId(invoice, ({ emoji_id, error }) => void found.push(emoji_id, error?.code))
  await until(() => found.length > 0)
  expect(found).toEqual([invoice, "unsupported_emoji"])
  const asked = [..."🌊🚀".repeat(liveLimits.lookupIds)].join("")
  const answers = await client.live.lookup(["🌊", asked, invoice])
  expect(answers.map(({ emoji_id, error }) => [emoji_id, error?.code])).toEqual([
    ["🌊", "not_registered"],
    [asked, "length"],
    [invoice, "unsupported_emoji"],
  ])
  expect(sockets).toHaveLength(1)
})
