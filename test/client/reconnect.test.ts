import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { FakeSocket, greet } from "./fake-socket.ts"

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, "random").mockReturnValue(0.5)
  FakeSocket.all = []
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const listen = () => {
  const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
  client.live.subscribe("market", { state: () => {}, event: () => {} })
  return client
}

it("the delay before a reconnect grows when the service accepts connections and then closes them", async () => {
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "subscribe") socket.onclose?.({ code: 1011, reason: "" })
  }
  const client = listen()
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  client.live.close()
  // `Math.random` returns 0.5, so the delays are half of 0.5 s, 1 s, 2 s, … 30 s. If the delays did not grow, the client
  // would open four connections per second.
  expect(FakeSocket.all.length).toBeLessThan(40)
})

it("the delay before a reconnect is short when the lost connection lasted a minute", async () => {
  FakeSocket.answers = (frame, socket) => {
    greet(frame, socket)
    if (frame["type"] === "ping") socket.say({ type: "pong" })
  }
  const client = listen()
  for (let n = 1; n <= 20; n++) {
    await vi.advanceTimersByTimeAsync(60_000)
    expect([n, FakeSocket.all.length, client.live.status]).toEqual([n, n, "connected"])
    FakeSocket.all.at(-1)!.onclose?.({ code: 1006, reason: "" })
    await vi.advanceTimersByTimeAsync(500)
    expect(client.live.status).toBe("connected")
  }
  client.live.close()
})
