import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, vi } from "vitest"

it("the console asks again when a lookup after an event could not be answered", async () => {
  const sockets: Array<{
    listeners: Map<string, (event: unknown) => void>
    sent: Array<Record<string, string>>
  }> = []
  class Socket {
    listeners = new Map<string, (event: unknown) => void>()
    sent: Array<Record<string, string>> = []
    constructor() {
      sockets.push(this)
    }
    addEventListener(name: string, listener: (event: unknown) => void) {
      this.listeners.set(name, listener)
    }
    send(text: string) {
      this.sent.push(JSON.parse(text))
    }
    close() {}
  }
  vi.stubGlobal("window", {})
  vi.stubGlobal("addEventListener", () => {})
  vi.stubGlobal("document", { addEventListener: () => {}, hidden: false })
  vi.stubGlobal("location", { protocol: "http:", host: "x" })
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} })
  vi.stubGlobal("WebSocket", Socket)
  const path = "../../src/web/assets/console-live.js"
  const { lookUp, startLive } = await import(path)
  startLive()
  const socket = sockets[0]!
  const say = (frame: unknown) => socket.listeners.get("message")!({ data: JSON.stringify(frame) })
  socket.listeners.get("open")!({})
  const found = lookUp("🐙")
  const { id } = socket.sent.at(-1)!
  say({ type: "error", code: "unavailable", error: "Try again.", id })
  for (let tries = 0; tries < 60 && socket.sent.filter(({ type }) => type === "lookup").length < 2; tries++)
    await sleep(50)
  const again = socket.sent.filter(({ type }) => type === "lookup")
  expect(again).toHaveLength(2)
  say({ type: "records", id: again[1]?.["id"], results: [{ emoji_id: "🐙", version: 2 }] })
  expect(await found).toMatchObject({ version: 2 })
})
