import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { Credentials } from "../../src/client/credentials.ts"
import { FakeSocket, greet } from "./fake-socket.ts"

const thrown = new Error("an error of the page")
const fail = (): never => {
  throw thrown
}
/** The uncaught errors that the page would report. */
let reported: Array<unknown>

beforeEach(() => {
  vi.useFakeTimers()
  reported = []
  vi.stubGlobal("queueMicrotask", (run: () => void) => {
    try {
      run()
    } catch (error) {
      reported.push(error)
    }
  })
  FakeSocket.all = []
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "subscribe")
      socket.say({ type: "subscribed", channel: frame["channel"], epoch: "e", offset: 0, recovered: false })
  }
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it("a listener that throws does not affect other listeners of the channel", async () => {
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  let states = 0
  const offsets: Array<number> = []
  const refusals: Array<string> = []
  client.live.subscribe("market", { state: fail, event: fail, refused: fail })
  client.live.subscribe("market", {
    state: () => void states++,
    event: ({ offset }) => void offsets.push(offset),
    refused: (code) => void refusals.push(code),
  })
  await vi.advanceTimersByTimeAsync(10)
  const socket = FakeSocket.all[0]!
  socket.say({ type: "event", channel: "market", offset: 1, event: "market.purchased", data: {}, at: "now" })
  socket.say({ type: "unsubscribed", channel: "market", reason: "not_allowed" })
  client.live.close()
  expect(states).toBeGreaterThan(0)
  expect(offsets).toEqual([1])
  expect(refusals).toEqual(["not_allowed"])
  expect(new Set(reported)).toEqual(new Set([thrown]))
})

it("an `onLiveStatus` listener that throws does not prevent a connection or a reconnect", async () => {
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket, onLiveStatus: fail })
  let states = 0
  client.live.subscribe("market", { state: () => void states++, event: () => {} })
  await vi.advanceTimersByTimeAsync(10)
  expect(states).toBe(1)
  FakeSocket.all[0]!.onclose?.({ code: 1006, reason: "" })
  await vi.advanceTimersByTimeAsync(1000)
  expect(states).toBe(2)
  client.live.close()
})

it("an `onTokens` listener that throws does not make the token renewal fail", async () => {
  const credentials = new Credentials({ refreshToken: "unkept", onTokens: fail }, async () => ({
    accessToken: "a",
    refreshToken: "unkept-2",
  }))
  expect(await credentials.token()).toBe("a")
  expect(credentials.newestRefreshToken()).toBe("unkept-2")
  expect(reported).toEqual([thrown])
})
