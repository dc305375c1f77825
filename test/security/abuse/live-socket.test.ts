import { afterEach, describe, expect, it } from "vitest"
import { liveLimits } from "../../../schema/live-frames.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve } from "../../fixtures/service.ts"
import { type FrameFacts, opcodes, openRawLive, type RawLive } from "./live-frames.ts"

/**
 * These tests send frames that no WebSocket library sends. Origins, tokens in the URL, large and binary frames, slow
 * readers, the limit of subscriptions and the end of a session are in test/live.
 */

const service = await serve()
const port = Number(new URL(service.url).port)
const opened = new Set<RawLive>()
afterEach(() => {
  for (const { socket } of opened) socket.destroy()
  opened.clear()
})
const open = async (): Promise<RawLive> => {
  const live = await openRawLive(port)
  opened.add(live)
  return live
}
const text = (payload: string | Uint8Array, more: Partial<FrameFacts> = {}): FrameFacts => ({
  opcode: opcodes.text,
  payload,
  ...more,
})
const rest = (payload: string | Uint8Array, fin: boolean): FrameFacts => ({
  opcode: opcodes.continuation,
  payload,
  fin,
})
const connectFrame = '{"type":"connect"}'
const connected = async () => {
  const live = await open()
  live.send(text(connectFrame))
  await expect.poll(live.received).toContain('"connected"')
  return live
}
/** Another client can connect and gets a reply, so the service and its event loop are not affected. */
const neighbourIsServed = async () => {
  const client = await liveSocket(service.url)()
  client.send({ type: "connect" })
  await client.take({ type: "connected" })
  client.close()
}
const countOf = (live: RawLive, what: string) => live.received().split(what).length - 1
const isDisconnected = (live: RawLive) => expect.poll(live.isClosed).toBe(true)

describe("a live socket that violates the WebSocket protocol", () => {
  it.each<[string, ReadonlyArray<FrameFacts>]>([
    ["frames without a mask", Array.from({ length: 20 }, () => text('{"type":"ping"}', { masked: false }))],
    ["a text that is not UTF-8", [text(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))]],
    ["an encoded surrogate", [text(Buffer.from([0xed, 0xa0, 0x80]))]],
    [
      "a text that is not UTF-8 in two fragments",
      [text(Buffer.from([0xf0, 0x9f]), { fin: false }), rest("a", true)],
    ],
    ["a reserved bit", [text('{"type":"ping"}', { reserved: 1 })]],
    ["a compressed frame without the extension", [text(Buffer.from([0x78, 0x9c, 0x01]), { reserved: 4 })]],
    ["a reserved opcode", [{ opcode: 3, payload: "x" }]],
    ["a reserved control opcode", [{ opcode: 11, payload: "x" }]],
    ["a ping of more than 125 bytes", [{ opcode: opcodes.ping, payload: "x".repeat(126) }]],
    ["a fragmented ping", [{ opcode: opcodes.ping, payload: "x", fin: false }]],
    ["a declared length of 2^63 bytes", [text("x", { length: 2n ** 63n })]],
    ["a declared length above the limit", [text("x", { length: BigInt(liveLimits.frameBytes) + 1n })]],
    ["a close frame with a code of one byte", [{ opcode: opcodes.close, payload: "\x03" }]],
    [
      "a close frame with a reason that is not UTF-8",
      [{ opcode: opcodes.close, payload: Buffer.from([3, 232, 0xff]) }],
    ],
    ["HTTP after the upgrade", []],
  ])("is disconnected, and other sockets are not affected: %s", async (_, frames) => {
    const live = await connected()
    if (frames.length > 0) live.send(...frames)
    else live.socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10))
    await neighbourIsServed()
    await isDisconnected(live)
    expect(live.received()).not.toContain("pong")
  })

  it("is disconnected when the fragments of one message exceed the size limit together", async () => {
    const live = await connected()
    const part = "x".repeat(liveLimits.frameBytes / 4)
    live.send(text(part, { fin: false }), ...Array.from({ length: 4 }, () => rest(part, false)))
    await isDisconnected(live)
  })
})

describe("a live socket", () => {
  it("reads a message that arrives in fragments with a ping between them", async () => {
    const live = await connected()
    live.send(
      text('{"type":"pi', { fin: false }),
      { opcode: opcodes.ping },
      rest('ng","id":"7"', false),
      rest("}", true),
    )
    await expect.poll(live.received).toContain('{"type":"pong","id":"7"}')
  })

  it.each([
    ["pings", opcodes.ping],
    ["pongs", opcodes.pong],
  ])("is closed when it floods %s, which the library answers or ignores itself", async (_, opcode) => {
    const live = await connected()
    const flood = Array.from({ length: liveLimits.burstFrames + 500 }, () => ({ opcode }))
    live.send(...flood)
    await neighbourIsServed()
    await isDisconnected(live)
  })

  it("is closed when it floods frames before it connects", async () => {
    const live = await open()
    live.send(...Array.from({ length: 2000 }, () => text('{"type":"ping"}')))
    await isDisconnected(live)
    expect(countOf(live, '"type":"error"')).toBeLessThan(liveLimits.burstFrames)
  })

  it("has no more subscriptions than the limit after 500 requests, and frees them when it is closed", async () => {
    const subscriptions = async () =>
      Number(/^live_subscriptions (\d+)$/m.exec((await service.call("GET", "/metrics")).text)?.[1])
    await expect.poll(subscriptions).toBe(0)
    const live = await connected()
    const emoji = ["🐙", "🍕", "🌊", "🚀", "🔥"]
    const names = Array.from({ length: 500 }, (_, n) =>
      [n % 5, Math.floor(n / 5) % 5, Math.floor(n / 25) % 5, Math.floor(n / 125)]
        .map((at) => emoji[at])
        .join(""),
    )
    live.send(
      ...names.map((name) => text(JSON.stringify({ type: "subscribe", channel: `emoji_id:${name}` }))),
    )
    const refused = names.length - liveLimits.subscriptions
    await expect.poll(() => countOf(live, "too_many_subscriptions")).toBe(refused)
    expect(await subscriptions()).toBe(liveLimits.subscriptions)
    live.socket.destroy()
    await expect.poll(subscriptions).toBe(0)
  })

  it("is closed after its user logs out with POST /logout", async () => {
    const user = await service.user()
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token: user.token })
    await client.take({ type: "connected" })
    expect((await service.call("POST", "/logout", { token: user.token })).status).toBe(200)
    expect((await client.closing).code).toBe(4403)
  })

  it("cannot subscribe to the channels of another user by any spelling of their names", async () => {
    const [user, other] = [await service.user(), await service.user()]
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token: user.token })
    await client.take({ type: "connected" })
    const kinds = ["cart", "transfers", "lootboxes", "session", "interests"]
    const names = kinds.flatMap((kind) => [
      `${kind}:${other.id}`,
      `${kind}:${other.id.toUpperCase()}`,
      `${kind}:`,
      `${kind}: ${other.id}`,
    ])
    for (const channel of [
      ...names,
      "__proto__",
      "constructor:x",
      "toString",
      "order:%",
      `order:${other.id}'--`,
    ]) {
      client.send({ type: "subscribe", channel })
      expect(await client.take({ type: "error", channel })).toMatchObject({ code: "unknown_channel" })
    }
    client.close()
  })
})
