import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, describe, expect, it, vi } from "vitest"
import { openSocket } from "../../fixtures/raw-http.ts"
import { serve } from "../../fixtures/service.ts"
import { patiently } from "../../fixtures/suite/patience.ts"

/**
 * These tests send bytes that no HTTP client sends. Ambiguous body lengths are in test/http/body-length.test.ts,
 * clients that never read in test/http/pipelining.test.ts. The requests name unknown paths or have invalid bodies, so
 * the only correct response is an error.
 */

const service = await serve()
const port = Number(new URL(service.url).port)
const sockets = new Set<Socket>()
afterAll(() => {
  for (const socket of sockets) socket.destroy()
})

/** Opens a connection and collects what it receives. `isClosed` is true when the server has closed it. */
const open = async () => {
  const socket = await openSocket(port)
  sockets.add(socket)
  const client = { socket, text: "", isClosed: false, send: (text: string) => socket.write(text, "latin1") }
  socket.setEncoding("latin1").on("data", (text: string) => {
    client.text += text
  })
  socket.on("error", () => {})
  for (const event of ["end", "close"]) socket.once(event, () => (client.isClosed = true))
  return client
}
const neighbourIsServed = async () => expect((await service.call("GET", "/health")).status).toBe(200)

/** Sends the bytes and returns everything that is received until the server closes the connection. */
const untilClosed = async (text: string): Promise<string> => {
  const client = await open()
  client.send(text)
  await neighbourIsServed()
  await vi.waitUntil(() => client.isClosed, patiently)
  return client.text
}
/** A connection that is closed without a response, or after an error, before anything was done. */
const refused = /^$|^HTTP\/1\.1 (?:4\d\d|505) /
/**
 * Starts all exchanges of a table at once: the library leaves some of them without a response until its idle time-out
 * of about ten seconds, and the tests would wait for one after the other.
 */
const started = (cases: ReadonlyArray<readonly [name: string, text: string]>) =>
  cases.map(([name, text]) => {
    const received = untilClosed(text)
    received.catch(() => {})
    return [name, received] as const
  })
const statuses = (text: string) => text.match(/^HTTP\/1\.1 \d+/gm) ?? []

const head = (line: string, ...headers: ReadonlyArray<string>) =>
  `${line} HTTP/1.1\r\n${["Host: x", ...headers].join("\r\n")}\r\n\r\n`
const post = (...headers: ReadonlyArray<string>) => head("POST /auth/token", ...headers)
/** A request that another parser could see inside the first one. Its id in a response shows that it was handled. */
const hidden = head("GET /health", "X-Request-Id: hidden-request")
const close = "Connection: close"

const ambiguous = started(
  [
    [
      "Content-Length and Transfer-Encoding",
      `${post("Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n`,
    ],
    [
      "Transfer-Encoding before Content-Length",
      `${post("Transfer-Encoding: chunked", "Content-Length: 4")}0\r\n\r\n`,
    ],
    ["a negative Content-Length", post("Content-Length: -1")],
    ["a Content-Length with a sign", post("Content-Length: +2")],
    ["a hexadecimal Content-Length", post("Content-Length: 0x2")],
    ["a list of lengths", post("Content-Length: 2, 2")],
    ["a Content-Length with a space inside", post("Content-Length: 1 0")],
    ["a Content-Length of 2^64 + 2", post("Content-Length: 18446744073709551618")],
    ["a Content-Length of 30 digits", post(`Content-Length: ${"9".repeat(30)}`)],
    ["a vertical tab before the coding", `${post("Transfer-Encoding:\x0bchunked")}0\r\n\r\n`],
    ["a space before the colon", `${post("Transfer-Encoding : chunked")}0\r\n\r\n`],
    ["a coding on a folded line", `${post("Transfer-Encoding:\r\n chunked")}0\r\n\r\n`],
    ["a chunk size of 2^64", `${post("Transfer-Encoding: chunked")}10000000000000000\r\n`],
    ["a chunk size that is not a number", `${post("Transfer-Encoding: chunked")}zz\r\n`],
    ["a negative chunk size", `${post("Transfer-Encoding: chunked")}-1\r\n`],
  ].map(([name, text]) => [name!, text! + hidden] as const),
)
const invalid = started([
  ["a folded header line", head("GET /nowhere", "A: b\r\n c", close)],
  ["lines that end with LF only", head("GET /nowhere", close).replaceAll("\r\n", "\n")],
  ["NUL in a header", head("GET /nowhere", "A: b\0c", close)],
  ["CR in a header", head("GET /nowhere", "A: b\rc", close)],
  ["NUL in the path", head("GET /no\0where", close)],
  ["a space in the path", head("GET /no where", close)],
  ["an absolute address", head("GET http://evil.example/nowhere", close)],
  ["an authority", head("CONNECT evil.example:443", close)],
  ["no Host", `GET /nowhere HTTP/1.1\r\n${close}\r\n\r\n`],
  ["two Hosts", head("GET /nowhere", "Host: y", close)],
  ["no version", "GET /nowhere\r\nHost: x\r\n\r\n"],
  ["an unknown version", "GET /nowhere HTTP/9.9\r\nHost: x\r\n\r\n"],
  ["HTTP/1.0", "GET /nowhere HTTP/1.0\r\nHost: x\r\n\r\n"],
  ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"],
  ["the beginning of TLS", `\x16\x03\x01\x00\xf1\x01\x00\x00\xed\x03\x03${"\xaa".repeat(220)}`],
  ["a path of one million characters", head(`GET /${"a".repeat(1_000_000)}`, close)],
  ["a header of one million characters", head("GET /nowhere", `A: ${"a".repeat(1_000_000)}`, close)],
  ["2,000 headers", head("GET /nowhere", ...Array.from({ length: 2000 }, (_, n) => `A${n}: b`), close)],
  ["a million bytes without a line", "G".repeat(1_000_000)],
  ["random bytes", Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7919) % 251)).toString("latin1")],
  ["chunks with extensions", `${post("Transfer-Encoding: chunked", close)}2;a="b"\r\n{}\r\n0\r\n\r\n`],
])

const drip = async (first: string, next: string): Promise<string> => {
  const client = await open()
  client.send(first)
  while (!client.isClosed) {
    if (!client.socket.destroyed) client.send(next)
    await sleep(500)
  }
  return client.text
}
const dripping = (
  [
    ["a header", "GET /nowhere HTTP/1.1\r\nHost: x\r\nA: b", "b"],
    ["a body", post("Content-Length: 1000"), " "],
    ["a body that the operation ignores", head("POST /logout", "Content-Length: 1000"), " "],
    ["the body of an unknown path", head("POST /nowhere", "Content-Length: 1000"), " "],
    ["chunks", post("Transfer-Encoding: chunked"), "1\r\n \r\n"],
  ] as const
).map(([name, first, next]) => [name, drip(first, next)] as const)

describe("a client that sends too slowly", () => {
  it("is disconnected, and 300 such clients do not keep others from being served", async () => {
    const clients = await Promise.all(Array.from({ length: 300 }, open))
    for (const [at, client] of clients.entries())
      if (at % 3 > 0)
        client.send(at % 3 === 1 ? "GET /nowhere HTTP/1.1\r\nHost: x\r\n" : post("Content-Length: 9"))
    for (let times = 0; times < 10; times++) await neighbourIsServed()
    await vi.waitUntil(() => clients.every(({ isClosed }) => isClosed), patiently)
  })

  it.each(dripping)(
    "is disconnected, although it sends a byte every half second: %s",
    async (_, received) => {
      expect(await received).toMatch(refused)
    },
  )
})

describe("a connection with an ambiguous request", () => {
  it.each(ambiguous)("is closed, and a request after it is not handled: %s", async (_, received) => {
    expect(await received).toMatch(refused)
    expect(await received).not.toContain("hidden-request")
  })
})

describe("a request that is not valid HTTP/1.1", () => {
  it.each(invalid)("gets an error or no response, and other clients are served: %s", async (_, received) => {
    expect(await received).toMatch(refused)
    expect(await received).not.toMatch(/\/src\/|node_modules|Error:/)
  })
})

describe("a connection", () => {
  it("that its client has half closed gets the response to its request, and is closed", async () => {
    const client = await open()
    client.socket.end(head("GET /nowhere"))
    await expect.poll(() => client.isClosed).toBe(true)
    expect(client.text).toMatch(/^HTTP\/1\.1 404 /)
    await neighbourIsServed()
  })

  it("has at most one request without a response: 500 pipelined requests do not wait for the database together", async () => {
    const { token } = await service.user()
    const client = await open()
    await service.sql.begin(async (sql) => {
      await sql`lock table app_user in access exclusive mode`
      client.send(head("GET /account", `Authorization: Bearer ${token}`).repeat(500))
      await expect.poll(() => client.isClosed || inFlight()).toSatisfy((seen) => seen === true || seen === 1)
      expect(await inFlight()).toBeLessThanOrEqual(1)
    })
    await expect.poll(() => client.isClosed || statuses(client.text).length > 0).toBe(true)
    await neighbourIsServed()
  })
})

/** The number of requests without a response, without the request that asks for it. */
const inFlight = async (): Promise<number> =>
  Number(/^\w*http_requests_in_flight (\d+)$/m.exec((await service.call("GET", "/metrics")).text)?.[1]) - 1
