import { describe, expect, it } from "vitest"
import { serveProtocol, transports } from "./protocol-service.ts"

const { over } = await serveProtocol()

describe.each(transports)("a frame that is refused over %s", (transport) => {
  const { connect, open } = over(transport)
  const long = `emoji_id:${"🐙".repeat(200)}`

  it.each([
    ["the id of a lookup", { type: "lookup", id: "7", emoji_ids: [] }, { id: "7" }],
    ["a channel that is too long", { type: "subscribe", channel: long }, { channel: long }],
    ["nothing that could be no name", { type: "subscribe", channel: 7, id: 8 }, {}],
  ])("is told by %s", async (_what, frame, reference) => {
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

  it("is told by its id before the greeting too", async () => {
    const client = await connect()
    client.send({ type: "ping", id: "9" })
    expect(await client.take({ type: "error" })).toMatchObject({ code: "not_connected", id: "9" })
    client.close()
  })
})
