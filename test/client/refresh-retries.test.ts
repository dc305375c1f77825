import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { Credentials } from "../../src/client/credentials.ts"
import { LiveConnection } from "../../src/client/live/connection.ts"
import type { LiveStatus } from "../../src/client/live/options.ts"
import { FakeSocket, greet } from "./fake-socket.ts"

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.all = []
  FakeSocket.answers = greet
})
afterEach(() => void vi.useRealTimers())

const handlers = { state: () => {}, event: () => {} }

/** An event that reports a change of the watched id. */
const changed = {
  type: "event",
  channel: "emoji_id:🐙",
  offset: 2,
  event: "emoji_id.records",
  data: {},
  at: "now",
}

it("a token refresh that fails with 429 is retried and does not end the login", async () => {
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

it("a live connection that the program closes during a token refresh stays closed when the refresh fails", async () => {
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

it("a socket that receives no `connected` frame is replaced by a new socket", async () => {
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

it("`watchId` reports a change although the first lookup after the change fails", async () => {
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
  const reported: Array<number> = []
  client.watchId("🐙", ({ version }) => void reported.push(version))
  await vi.advanceTimersByTimeAsync(100)
  expect(reported).toEqual([1])
  FakeSocket.all[0]!.say(changed)
  await vi.advanceTimersByTimeAsync(60_000)
  client.live.close()
  expect(reported).toEqual([1, 2])
})

it("a lookup answered with `unavailable` is repeated until it succeeds or times out", async () => {
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
  const refused = expect(live.lookup(["🐙"])).rejects.toThrow("timed out")
  await vi.advanceTimersByTimeAsync(11_000)
  await refused
  live.close()
})

it("`watchId` ignores a lookup result that is older than the last received state", async () => {
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
  const reported: Array<number> = []
  client.watchId("🐙", ({ version }) => void reported.push(version))
  await vi.advanceTimersByTimeAsync(100)
  const socket = FakeSocket.all[0]!
  let question = ""
  FakeSocket.answers = (frame) => {
    if (frame["type"] === "lookup") question = String(frame["id"])
  }
  socket.say(changed)
  await vi.advanceTimersByTimeAsync(10)
  // The server may send a new state at any time. The result of the lookup was read before that state.
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
  expect(reported.at(-1)).toBe(3)
})

it("a client whose clock is 20 minutes fast does not renew its token repeatedly", async () => {
  let exchanges = 0
  const credentials = new Credentials({ refreshToken: "renewed" }, async () => ({
    accessToken: "a",
    refreshToken: `renewed-${++exchanges}`,
  }))
  // The token is valid for 15 minutes by the clock of the service. The local clock is 20 minutes fast.
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

it("a token that is valid for 100 days is not renewed within the first minute", async () => {
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

it("a lookup of many ids does not time out while results arrive, and times out when no more arrive", async () => {
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
  const halted = expect(client.live.lookup(ids)).rejects.toThrow("timed out")
  await vi.advanceTimersByTimeAsync(100_000)
  await halted
  client.live.close()
})

it("a lookup on a closed connection fails immediately", async () => {
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  client.live.close()
  await expect(client.live.lookup(["🐙"])).rejects.toThrow("closed")
})
