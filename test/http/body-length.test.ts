import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Endpoint } from "../../src/http/endpoint.ts"
import { StaticResponse } from "../../src/http/response/static.ts"
import type { Server } from "../../src/http/server.ts"
import { openSocket } from "../fixtures/raw-http.ts"
import { serveEndpoints } from "../fixtures/servers/http-server.ts"

const handled: Array<string> = []

const endpoint = (method: Endpoint["method"], path: string, more: Partial<Endpoint> = {}): Endpoint => ({
  method,
  path,
  headers: [],
  needsAddress: false,
  bodyLimitBytes: method === "post" ? 1000 : 0,
  handle: (request, respond) => {
    handled.push(`${request.method} ${request.path} ${Buffer.from(request.body).toString()}`)
    respond({ status: 200, body: "done" })
    return () => true
  },
  ...more,
})
const answer = new StaticResponse(
  { code: 200, status: "200 OK", lines: "Content-Type: text/plain" },
  "",
  "made before",
)
const endpoints = [
  endpoint("post", "/write"),
  endpoint("del", "/write"),
  endpoint("get", "/read"),
  endpoint("get", "/prepared", {
    prepared: () => {
      handled.push("prepared")
      return answer
    },
  }),
  endpoint("get", "/smuggled"),
]

let server: Server
beforeAll(async () => {
  server = await serveEndpoints(endpoints)
})
afterAll(() => server.stop(500))
beforeEach(() => {
  handled.length = 0
})

/** Sends the text and returns all bytes that are received until the server closes the connection. */
const untilClosed = async (text: string): Promise<string> => {
  const socket = await openSocket(server.port)
  let seen = ""
  socket.on("data", (chunk: Buffer) => {
    seen += chunk.toString()
  })
  let isClosed = false
  socket.once("end", () => {
    isClosed = true
  })
  socket.write(text)
  await expect.poll(() => isClosed, { message: seen }).toBe(true)
  socket.destroy()
  return seen
}
const ask = (line: string, headers: ReadonlyArray<string>) =>
  `${line} HTTP/1.1\r\nHost: x\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n`
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
const all = `Content-Length: ${smuggled.length}`

const lines = [
  "POST /write",
  "DELETE /write",
  "GET /read",
  "GET /prepared",
  "HEAD /read",
  "GET /nowhere",
  "OPTIONS /write",
]

describe("a request with an ambiguous body length", () => {
  it.each(lines)("is rejected with 400, and its connection is closed: %s", async (line) => {
    const text = await untilClosed(ask(line, ["Content-Length: 0", "Content-Length: 5"]))
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toMatch(/\r\nConnection: close\r\n/)
    if (!line.startsWith("HEAD")) expect(text).toContain('"code":"invalid_request"')
    expect(handled).toEqual([])
  })
  it.each(lines)("cannot hide a second request in its body: %s", async (line) => {
    await untilClosed(ask(line, ["Content-Length: 0", all]) + smuggled)
    expect(handled).toEqual([])
  })
  it.each([
    ["the same length twice", ["Content-Length: 2", "Content-Length: 2"], "ab"],
    ["an empty length before a valid one", ["Content-Length:", "Content-Length: 2"], ""],
    ["an empty length", ["Content-Length:"], ""],
    ["an unknown transfer coding", ["Transfer-Encoding: xchunked"], "2\r\nab\r\n0\r\n\r\n"],
    ["a second coding before chunked", ["Transfer-Encoding: gzip, chunked"], "2\r\nab\r\n0\r\n\r\n"],
    ["chunked that is not the last coding", ["Transfer-Encoding: chunked, identity"], "2\r\nab\r\n0\r\n\r\n"],
    [
      "two header lines with codings",
      ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
      "2\r\nab\r\n0\r\n\r\n",
    ],
    ["an empty coding beside a length", ["Transfer-Encoding:", "Content-Length: 2"], "ab"],
  ])("gets 400: %s", async (_, headers, body) => {
    expect(await untilClosed(ask("POST /write", headers) + body)).toMatch(/^HTTP\/1\.1 400 /)
    expect(handled).toEqual([])
  })
})

describe("a request with a valid body length", () => {
  it.each([
    ["Content-Length", ["Content-Length: 2"], "ab"],
    ["chunked encoding", ["Transfer-Encoding: Chunked"], "2\r\nab\r\n0\r\n\r\n"],
  ])("given by %s is served, and so is the next request of the connection", async (_, headers, body) => {
    const last = ask("GET /read", ["Connection: close"])
    const text = await untilClosed(ask("POST /write", headers) + body + last)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"])
    expect(handled).toEqual(["POST /write ab", "GET /read "])
  })
  it("is served even by an operation that ignores the body", async () => {
    const text = await untilClosed(`${ask("GET /prepared", ["Content-Length: 2", "Connection: close"])}ab`)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(handled).toEqual(["prepared"])
  })
})
