import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { Credentials } from "../../src/client/credentials.ts"
import { LiveConnection } from "../../src/client/live.ts"
import type { LiveStatus } from "../../src/client/live-options.ts"
import { FakeSocket, greet } from "./fake-socket.ts"

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.all = []
  FakeSocket.answers = greet
})
afterEach(() => void vi.useRealTimers())

const handlers = { state: () => {}, event: () => {} }

/** The records of the id that is watched have changed. */
const changed = {
  type: "event",
  channel: "emoji_id:🐙",
  offset: 2,
  event: "emoji_id.records",
  data: {},
  at: "now",
}

it("a refresh that is answered 429 is tried again: the login is not over", async () => {
  const statuses: Array<LiveStatus> = []
  let tries = 0
  const credentials = new Credentials({ refreshToken: "clock" }, async () => {
    if (++tries === 1) throw Object.assign(new Error("too many"), { status: 429 })
    return { accessToken: "a", refreshToken: "clock-2" }
  })
  const live = new LiveConnection({
    url: "ws://x/live",
    socket: FakeSocket,
    credentials,
    onStatus: (status) => void statuses.push(status),
  })
  live.subscribe("cart", handlers)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(statuses).not.toContain("logged_out")
  expect(live.status).toBe("connected")
  live.close()
})

it("a connection that was closed while its token was fetched stays closed", async () => {
  let fail: (error: Error) => void = () => {}
  const credentials = new Credentials(
    { refreshToken: "away" },
    () =>
      new Promise((_, reject) => {
        fail = reject
      }),
  )
  const live = new LiveConnection({ url: "ws://x/live", socket: FakeSocket, credentials })
  live.subscribe("cart", handlers)
  await vi.advanceTimersByTimeAsync(10)
  live.close()
  fail(new Error("offline"))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(live.status).toBe("closed")
})

it("a socket that opens and never says connected is given up and another is tried", async () => {
  FakeSocket.answers = () => {}
  const live = new LiveConnection({
    url: "ws://x/live",
    socket: FakeSocket,
    credentials: new Credentials({}, () => Promise.reject(new Error("no"))),
  })
  live.subscribe("market", handlers)
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(FakeSocket.all.length).toBeGreaterThan(1)
  live.close()
})

it("a wallet that watches an id hears of a change although the first lookup after it failed", async () => {
  let lookups = 0
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "ping") socket.say({ type: "pong" })
    if (frame["type"] === "subscribe")
      socket.say({
        type: "subscribed",
        channel: "emoji_id:🐙",
        epoch: "e",
        offset: 1,
        recovered: false,
        state: { emoji_id: "🐙", version: 1 },
      })
    if (frame["type"] === "lookup" && ++lookups === 1)
      socket.say({ type: "error", code: "unavailable", error: "Try again.", id: frame["id"] })
    else if (frame["type"] === "lookup")
      socket.say({ type: "records", id: frame["id"], results: [{ emoji_id: "🐙", version: 2 }] })
  }
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  const told: Array<number> = []
  client.watchId("🐙", ({ version }) => void told.push(version))
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual([1])
  FakeSocket.all[0]!.say(changed)
  await vi.advanceTimersByTimeAsync(60_000)
  client.live.close()
  expect(told).toEqual([1, 2])
})

it("a lookup that could not be answered just now is asked again, until it has taken too long", async () => {
  let busy = 3
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "lookup" && busy-- > 0)
      socket.say({ type: "error", code: "unavailable", error: "Try again.", id: frame["id"] })
    else if (frame["type"] === "lookup")
      socket.say({ type: "records", id: frame["id"], results: [{ emoji_id: "🐙", version: 1 }] })
  }
  const { live } = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  const answered = live.lookup(["🐙"])
  await vi.advanceTimersByTimeAsync(5000)
  expect(await answered).toMatchObject([{ version: 1 }])
  busy = Number.POSITIVE_INFINITY
  const refused = expect(live.lookup(["🐙"])).rejects.toThrow("in time")
  await vi.advanceTimersByTimeAsync(11_000)
  await refused
  live.close()
})

it("a wallet is not shown an answer to an older question after a newer state", async () => {
  let offset = 1
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "subscribe")
      socket.say({
        type: "subscribed",
        channel: "emoji_id:🐙",
        epoch: "e",
        offset,
        recovered: false,
        state: { emoji_id: "🐙", version: offset },
      })
  }
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  const told: Array<number> = []
  client.watchId("🐙", ({ version }) => void told.push(version))
  await vi.advanceTimersByTimeAsync(100)
  const socket = FakeSocket.all[0]!
  let question = ""
  FakeSocket.answers = (frame) => {
    if (frame["type"] === "lookup") question = String(frame["id"])
  }
  socket.say(changed)
  await vi.advanceTimersByTimeAsync(10)
  // The server starts the channel over at any time; the lookup was read before that.
  offset = 3
  socket.say({
    type: "subscribed",
    channel: "emoji_id:🐙",
    epoch: "e2",
    offset: 3,
    recovered: false,
    state: { emoji_id: "🐙", version: 3 },
  })
  socket.say({ type: "records", id: question, results: [{ emoji_id: "🐙", version: 2 }] })
  await vi.advanceTimersByTimeAsync(100)
  client.live.close()
  expect(told.at(-1)).toBe(3)
})

it("a device whose clock is ahead of the service's does not renew its token all the time", async () => {
  let exchanges = 0
  const credentials = new Credentials({ refreshToken: "renewed" }, async () => ({
    accessToken: "a",
    refreshToken: `renewed-${++exchanges}`,
  }))
  // Good for 15 minutes by the service's clock; ours is 20 minutes ahead of it.
  FakeSocket.answers = ({ type }, socket) => {
    const expires_at = new Date(Date.now() - 5 * 60_000).toISOString()
    if (type === "connect") socket.say({ type: "connected", user_id: "u", expires_at })
    if (type === "ping") socket.say({ type: "pong" })
  }
  const live = new LiveConnection({ url: "ws://x/live", socket: FakeSocket, credentials })
  live.subscribe("cart", handlers)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(live.status).toBe("connected")
  live.close()
  expect(exchanges).toBeLessThan(3)
})

it("a token that lives for months is renewed near its end, not at once and without end", async () => {
  const dayMs = 86_400_000
  const expires_at = new Date(Date.now() + 100 * dayMs).toISOString()
  FakeSocket.answers = (frame, socket) => {
    if (frame["type"] === "connect") socket.say({ type: "connected", user_id: "u", expires_at })
    if (frame["type"] === "ping") socket.say({ type: "pong" })
  }
  let renewals = 0
  const credentials = new Credentials({ refreshToken: "refused", accessToken: "a" }, async () => {
    renewals++
    return { accessToken: "b", refreshToken: "refused-2" }
  })
  const live = new LiveConnection({ url: "ws://x/live", socket: FakeSocket, credentials })
  live.subscribe("cart", handlers)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(live.status).toBe("connected")
  expect(renewals).toBe(0)
  live.close()
})

it("an address book that takes long to be answered is waited for as long as answers come, and no longer", async () => {
  let lookups = 0
  let mostAnswered = 30
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] !== "lookup" || ++lookups > mostAnswered) return
    const results = (frame["emoji_ids"] as Array<string>).map((emoji_id) => ({ emoji_id }))
    setTimeout(() => socket.say({ type: "records", id: frame["id"], results }), 1000 * lookups)
  }
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  const ids = Array.from({ length: 30 * 50 }, (_, n) => `${n}`)
  const book = client.live.lookup(ids)
  await vi.advanceTimersByTimeAsync(31_000)
  expect((await book).map(({ emoji_id }) => emoji_id)).toEqual(ids)
  mostAnswered += 2
  const halted = expect(client.live.lookup(ids)).rejects.toThrow("in time")
  await vi.advanceTimersByTimeAsync(100_000)
  await halted
  client.live.close()
})

it("who asks on a connection they have closed is told so at once", async () => {
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  client.live.close()
  await expect(client.live.lookup(["🐙"])).rejects.toThrow("closed")
})
