import { beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import { closeCodes, liveLimits } from "../../schema/live-frames.ts"
import { LiveSessions } from "../../src/live/socket-sessions.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { exchange } from "../fixtures/raw-http.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let service: TestService
let publisher: (typeof Publisher)["Service"]

beforeAll(async () => {
  service = await serve({
    ALLOWED_ORIGINS: "https://wallet.example",
    BASE_URL: "https://directory.example",
    AUTH_URL: "https://login.directory.example",
  })
  publisher = await service.runtime.runPromise(Publisher)
})

const emit = async (on: TestService, channel: string, data: unknown) => {
  const events = JSON.stringify([{ channel, type: "test.happened", data }])
  const [row] = await on.sql<[{ given: Array<ChannelPosition> }]>`
    select put_events(${events}::text::jsonb) as given`
  publisher.moved(row.given)
}
const connected = async (url: string, headers: Record<string, string> = {}) => {
  const client = await liveSocket(url, headers)()
  client.send({ type: "connect" })
  await client.take({ type: "connected" })
  return client
}

const upgrade = [
  "GET /live?token=eyJ HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
]

describe("the WebSocket upgrade", () => {
  it("accepts allowed origins and clients without an Origin header", async () => {
    for (const headers of [{}, { Origin: "https://wallet.example" }]) {
      const client = await connected(service.url, headers as Record<string, string>)
      client.close()
    }
  })

  it("accepts the origins of the service itself, which are not in `ALLOWED_ORIGINS`", async () => {
    for (const Origin of ["https://directory.example", "https://login.directory.example"]) {
      const client = await connected(service.url, { Origin })
      client.close()
    }
  })

  it("rejects other origins with 403", async () => {
    const refused = liveSocket(service.url, { Origin: "https://evil.example" })()
    await expect(refused).rejects.toThrow("403")
  })

  it("rejects a token in the URL with 400", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/live?token=eyJ`)
    const failure = await new Promise<{ message: string }>((resolve) => {
      socket.onerror = resolve
    })
    expect(failure.message).toContain("400")
  })

  it("closes the connection without a response if the request has two different Content-Length headers", async () => {
    const inside = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    const lines = [...upgrade, "Content-Length: 0", `Content-Length: ${inside.length}`]
    const port = Number(new URL(service.url).port)
    expect(await exchange(port, `${lines.join("\r\n")}\r\n\r\n${inside}`)).toBe("")
  })

  it("reports an error as JSON that contains the request id", async () => {
    const lines = [...upgrade, "X-Request-Id: asked-1"]
    const text = await exchange(Number(new URL(service.url).port), `${lines.join("\r\n")}\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toMatch(/^x-request-id: asked-1\r$/im)
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toEqual({
      error: "Send the token in the connect frame, not in the URL.",
      code: "invalid_request",
      request_id: "asked-1",
    })
  })

  it("rejects sockets above the limit per address with 429, until another socket of the address closes", async () => {
    const limited = await serve({ RATE_LIMIT: "on", LIVE_MAX_SOCKETS_PER_ADDRESS: "2" })
    const first = await connected(limited.url)
    const second = await connected(limited.url)
    await expect(liveSocket(limited.url)()).rejects.toThrow("429")
    first.close()
    await first.closing
    const third = await connected(limited.url)
    second.close()
    third.close()
    await limited.stop()
  })

  it("counts IPv6 addresses of the same /64 network as one address", async () => {
    const limited = await serve({ RATE_LIMIT: "on", TRUST_PROXY: "on", LIVE_MAX_SOCKETS_PER_ADDRESS: "1" })
    const from = (address: string) => ({ "X-Forwarded-For": address })
    const first = await connected(limited.url, from("2001:db8:0:7::1"))
    await expect(liveSocket(limited.url, from("2001:db8:0:7::2"))()).rejects.toThrow("429")
    const other = await connected(limited.url, from("2001:db8:0:8::1"))
    first.close()
    other.close()
    await limited.stop()
  })

  it("is required: a plain GET request to `/live` gets 426", async () => {
    const answer = await service.call("GET", "/live")
    expect(answer.status).toBe(426)
    expect(answer.headers.get("upgrade")).toBe("websocket")
    expect(answer.body.code).toBe("upgrade_required")
  })
})

describe("a live socket", () => {
  it("is closed when its client sends a frame above the size limit", async () => {
    const client = await connected(service.url)
    client.sendText(`{"type":"ping","id":"${"x".repeat(liveLimits.frameBytes)}"}`)
    expect((await client.closing).code).not.toBe(1000)
  })

  it("answers a binary frame with `bad_frame`", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/live`)
    const answer = new Promise<string>((resolve) => {
      socket.onmessage = ({ data }) => resolve(String(data))
    })
    socket.onopen = () => socket.send(Buffer.from('{"type":"connect"}'))
    expect(JSON.parse(await answer)).toMatchObject({ type: "error", code: "bad_frame" })
    socket.close()
  })

  it("whose client stops reading is disconnected, other clients are not affected, and the client can resume", async () => {
    const channel = "emoji_id:🐙"
    const slow = new WebSocket(`${service.url.replace("http", "ws")}/live`)
    const received: Array<{ type: string; offset: number; epoch: string }> = []
    slow.onmessage = ({ data }) => void received.push(JSON.parse(String(data)))
    await new Promise((open) => {
      slow.onopen = open
    })
    const closed = new Promise<{ code: number }>((resolve) => {
      slow.onclose = resolve
    })
    slow.send('{"type":"connect"}')
    slow.send(JSON.stringify({ type: "subscribe", channel }))
    while (!received.some((frame) => frame.type === "subscribed")) await new Promise((r) => setTimeout(r, 5))
    slow.pause()

    const quick = await connected(service.url)
    quick.send({ type: "subscribe", channel })
    await quick.take({ type: "subscribed" })
    const isCut = async () =>
      /^live_slow_sockets_cut_total 1$/m.test((await service.call("GET", "/metrics")).text)
    // The kernel buffers some megabytes for the slow socket before the server has unsent bytes.
    const filler = "x".repeat(200_000)
    let sent = 0
    while (!(await isCut()) && sent < 400) await emit(service, channel, { n: ++sent, filler })
    expect(await isCut()).toBe(true)
    await quick.take({ type: "event", offset: sent })
    expect(quick.frames.filter((f) => f.type === "event").map((f) => f.data.n)).toEqual(
      Array.from({ length: sent }, (_, i) => i + 1),
    )

    slow.resume()
    await closed
    const offsets = received.filter((frame) => frame.type === "event").map((frame) => frame.offset)
    expect(offsets).toEqual(offsets.map((_, i) => i + 1))
    const back = await connected(service.url)
    const { epoch } = received.find((frame) => frame.type === "subscribed")!
    back.send({ type: "subscribe", channel, epoch, offset: offsets.length })
    expect(await back.take({ type: "subscribed" })).toMatchObject({ recovered: true })
    await back.take({ type: "event", offset: sent })
    expect(back.frames.filter((f) => f.type === "event").map((f) => f.data.n)).toEqual(
      Array.from({ length: sent - offsets.length }, (_, i) => offsets.length + i + 1),
    )
    back.close()
    quick.close()
  })
})

describe("a stop of the service", () => {
  it("closes the live sockets with code 1012, a few at a time", async () => {
    const stopping = await serve({ DRAIN_SECONDS: "1" })
    const clients = await Promise.all(Array.from({ length: 40 }, () => connected(stopping.url)))
    const sessions = await stopping.runtime.runPromise(LiveSessions)
    const left = new Set<number>()
    const look = () => {
      if (left.add(sessions.count()).has(0)) return
      setImmediate(look)
    }
    look()
    await stopping.stop()
    const codes = await Promise.all(clients.map(async (client) => (await client.closing).code))
    expect(codes).toEqual(Array(40).fill(closeCodes.restart))
    expect(left.size).toBeGreaterThan(4)
  })
})
