import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { liveEvents } from "../../schema/live-events.ts"
import { clientFrames, closeCodes, errorCodes, serverFrames } from "../../schema/live-frames.ts"
import { asyncApi } from "../../src/live/asyncapi.ts"
import { channelKinds } from "../../src/live/channel-names.ts"
import { serve } from "../fixtures/service.ts"

const frameNames = [...Object.keys(clientFrames), ...Object.keys(serverFrames)]
const messageNames = [...frameNames, ...Object.keys(liveEvents)]

const refsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, part]) => (key === "$ref" ? [String(part)] : refsIn(part)))

const resolve = (document: unknown, ref: string): unknown =>
  ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document)

describe("the AsyncAPI document", () => {
  const document = asyncApi("https://api.example.com/base")

  it("contains every frame and every event, and has no broken references", () => {
    expect(Object.keys(document.components.messages).sort()).toEqual(messageNames.sort())
    for (const ref of refsIn(document)) expect(resolve(document, ref), ref).toBeDefined()
    expect(document.servers.service).toEqual({ host: "api.example.com", pathname: "/base", protocol: "wss" })
  })

  it("marks `type` and `channel` of a subscribe frame as required, and `offset` and `epoch` as optional", () => {
    const { payload } = document.components.messages["subscribe"]!
    expect(resolve(document, String(payload["$ref"]))).toMatchObject({
      required: ["type", "channel"],
      properties: { offset: expect.anything(), epoch: expect.anything() },
    })
  })

  it("is served at `/asyncapi.json`", async () => {
    const service = await serve()
    const answer = await service.call("GET", "/asyncapi.json")
    expect(answer.status).toBe(200)
    expect(answer.body.asyncapi).toBe("3.1.0")
    expect(answer.body["x-close-codes"]).toEqual(closeCodes)
  })
})

describe("PROTOCOL.md", () => {
  const page = readFileSync("src/live/PROTOCOL.md", "utf8")

  it("mentions every frame, channel, error code and close code", () => {
    const missing = [...frameNames, ...Object.keys(channelKinds), ...errorCodes].filter(
      (name) => !page.includes(`\`${name}`),
    )
    expect(missing).toEqual([])
    for (const code of Object.values(closeCodes)) expect(page).toContain(`| ${code} |`)
  })
})
