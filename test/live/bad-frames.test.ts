import { describe, expect, it } from "vitest"
import { serveProtocol, transports } from "./protocol-service.ts"

const { over } = await serveProtocol()

describe.each(transports)("the error for a rejected frame (transport: %s)", (transport) => {
  const { connect, open } = over(transport)
  const long = `emoji_id:${"🐙".repeat(200)}`

  it.each([
    ["the `id` of an invalid lookup", { type: "lookup", id: "7", emoji_ids: [] }, { id: "7" }],
    ["the channel name that is too long", { type: "subscribe", channel: long }, { channel: long }],
    ["neither `id` nor `channel` when they have wrong types", { type: "subscribe", channel: 7, id: 8 }, {}],
  ])("contains %s", async (_what, frame, reference) => {
    const client = await open()
    client.send(frame)
    const error = "This is not a valid frame. See /asyncapi.json for the frames a client may send."
    expect(await client.take({ type: "error" })).toEqual({
      type: "error",
      code: "bad_frame",
      error,
      ...reference,
    })
    client.close()
  })

  it("contains the `id` of a frame that was sent before `connect`", async () => {
    const client = await connect()
    client.send({ type: "ping", id: "9" })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "not_connected", id: "9" })
    client.close()
  })
})
