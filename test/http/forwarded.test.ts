import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Endpoint } from "../../src/http/endpoint.ts"
import type { Server } from "../../src/http/server.ts"
import { exchange } from "../fixtures/raw-http.ts"
import { serveEndpoints } from "../fixtures/servers/http-server.ts"

const whoAmI: Endpoint = {
  method: "get",
  path: "/address",
  headers: [],
  needsAddress: true,
  bodyLimitBytes: 0,
  handle: ({ address }, respond) => {
    respond({ status: 200, body: `<${address}>` })
    return () => true
  },
}

let server: Server
beforeAll(async () => {
  server = await serveEndpoints([whoAmI], { trustProxy: true })
})
afterAll(() => server.stop(100))

const addressOf = async (...lines: ReadonlyArray<string>) => {
  const head = ["GET /address HTTP/1.1", "Host: x", ...lines.map((line) => `X-Forwarded-For: ${line}`)]
  return /<(.*)>/.exec(await exchange(server.port, `${head.join("\r\n")}\r\n\r\n`))?.[1]
}

describe("behind a trusted proxy the caller's address is", () => {
  it.each([
    ["the address that the proxy reports", ["203.0.113.7"], "203.0.113.7"],
    [
      "the entry that the proxy appended, not an entry that the caller forged",
      ["6.6.6.6, 203.0.113.7"],
      "203.0.113.7",
    ],
    [
      "the address in the X-Forwarded-For line that the proxy added after the caller's line",
      ["6.6.6.6", "203.0.113.7"],
      "203.0.113.7",
    ],
    ["the reported address without its port", ["203.0.113.7:51234"], "203.0.113.7"],
    ["the reported IPv6 address without its brackets and port", ["[2001:db8::7]:51234"], "2001:db8::7"],
    ["the reported IPv6 address if it has no brackets", ["2001:db8::7"], "2001:db8::7"],
    ["the address of the proxy if X-Forwarded-For is absent", [], "127.0.0.1"],
    ["the address of the proxy if the last entry is empty", ["6.6.6.6,"], "127.0.0.1"],
  ])("%s", async (_what, lines, address) => {
    expect(await addressOf(...lines)).toBe(address)
  })
})
