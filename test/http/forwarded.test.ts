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

describe("behind a trusted proxy the caller is", () => {
  it.each([
    ["who the proxy says", ["203.0.113.7"], "203.0.113.7"],
    ["the entry the proxy appended, not one the caller made up", ["6.6.6.6, 203.0.113.7"], "203.0.113.7"],
    ["the line the proxy added below the caller's own", ["6.6.6.6", "203.0.113.7"], "203.0.113.7"],
    ["the same whatever port it calls from", ["203.0.113.7:51234"], "203.0.113.7"],
    ["the same whatever port it calls from, by IPv6 too", ["[2001:db8::7]:51234"], "2001:db8::7"],
    ["an IPv6 address as it is", ["2001:db8::7"], "2001:db8::7"],
    ["the proxy itself when it says nothing", [], "127.0.0.1"],
    ["the proxy itself when it leaves the place empty", ["6.6.6.6,"], "127.0.0.1"],
  ])("%s", async (_what, lines, address) => {
    expect(await addressOf(...lines)).toBe(address)
  })
})
