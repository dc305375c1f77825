import type { Socket } from "node:net"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import type { Endpoint } from "../../src/http/endpoint.ts"
import { StaticResponse } from "../../src/http/response/static.ts"
import type { Server } from "../../src/http/server.ts"
import { openSocket } from "../fixtures/raw-http.ts"
import { serveEndpoints } from "../fixtures/servers/http-server.ts"
import { patiently } from "../fixtures/suite/patience.ts"

/**
 * These tests use clients that send many requests without waiting for the responses, and clients that do not read the
 * responses.
 */

const answering = (path: string, body: string, status = 200): Endpoint => ({
  method: path === "/posted" ? "post" : "get",
  path,
  headers: [],
  needsAddress: false,
  bodyLimitBytes: path === "/posted" ? 1000 : 0,
  handle: (_request, respond) => {
    respond({ status, headers: { "Content-Type": "text/plain" }, body })
    return () => true
  },
})
const word = new StaticResponse(
  { code: 200, status: "200 OK", lines: "Content-Type: text/plain" },
  "",
  "word",
)
const unchanged = new StaticResponse(
  { code: 304, status: "304 Not Modified", lines: "Cache-Control: no-cache" },
  "",
  "",
)

let server: Server
const start = () =>
  serveEndpoints([
    answering("/health", "ok"),
    answering("/large", "0123456789".repeat(30_000)),
    answering("/empty", "", 204),
    answering("/posted", "taken"),
    { ...answering("/prepared", "word"), prepared: () => word },
    { ...answering("/unchanged", ""), prepared: () => unchanged },
  ])
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop(0))

const asking = (method: string, path: string, rest = "\r\n") =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${rest}`
const unknown = asking("GET", "/x")
const health = async (of: Server) => (await fetch(`http://127.0.0.1:${of.port}/health`)).text()

/** Opens a connection that sends blocks of requests as long as the server accepts them, and reads no response. */
const flood = async (of: Server, requests: string): Promise<Socket> => {
  const socket = await openSocket(of.port)
  socket.pause()
  socket.on("error", () => {})
  const block = requests.repeat(Math.ceil(20_000 / requests.length))
  const send = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on("drain", send)
  send()
  return socket
}
const closed = (socket: Socket) => vi.waitFor(() => expect(socket.destroyed).toBe(true), patiently)

const countAnswers = (socket: Socket, expected: number): Promise<number> => {
  let answers = 0
  let rest = ""
  return new Promise((resolve) => {
    socket.setEncoding("latin1").on("data", (text: string) => {
      const parts = (rest + text).split("HTTP/1.1 ")
      answers += parts.length - 1
      rest = (parts.at(-1) ?? "").slice(-8)
      if (answers === expected) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(answers))
  })
}

/**
 * Sends `each` requests on each connection in one turn of the event loop, so that the server reads all of them in its
 * next turn. A connection ends when it has all responses or when the server closes it. Returns the number of responses
 * that each connection got.
 */
const pipeline = async (
  of: Server,
  request: string,
  connections: number,
  each: number,
): Promise<Array<number>> => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(of.port)))
  const counts = sockets.map((socket) => countAnswers(socket, each))
  for (const socket of sockets) socket.write(request.repeat(each))
  return Promise.all(counts)
}

it.each([
  ["an unknown path", unknown],
  ["HEAD of an unknown path", asking("HEAD", "/x")],
  ["an unknown path, with a body", asking("POST", "/x", "Content-Length: 3\r\n\r\nabc")],
  ["HEAD of a known path", asking("HEAD", "/health")],
  ["OPTIONS of a known path", asking("OPTIONS", "/health")],
  ["a method that the path does not have", asking("DELETE", "/health")],
  ["a small response", asking("GET", "/health")],
  ["a large response", asking("GET", "/large")],
  ["a response without content", asking("GET", "/empty")],
  ["a precomputed response", asking("GET", "/prepared")],
  ["a precomputed 304", asking("GET", "/unchanged")],
  ["a response to a request with a body", asking("POST", "/posted", "Content-Length: 3\r\n\r\nabc")],
])("the server closes a connection that never reads the responses: %s", async (_, request) => {
  await closed(await flood(server, request))
})

it("the server closes a connection that sends 20 requests at a time and never reads the responses", async () => {
  const socket = await openSocket(server.port)
  socket.pause()
  socket.on("error", () => {})
  const send = () => {
    if (socket.destroyed) return
    socket.write(unknown.repeat(20))
    setImmediate(send)
  }
  send()
  await closed(socket)
})

it.each([
  ["an unknown path", unknown],
  ["a precomputed response", asking("GET", "/prepared")],
  ["a response of a handler", asking("GET", "/health")],
])(
  "the server closes some of 20 connections that pipeline 1500 requests each at the same time: %s",
  async (_, request) => {
    const counts = await pipeline(server, request, 20, 1500)
    expect(counts.some((count) => count < 1500)).toBe(true)
    expect(await pipeline(server, request, 1, 100)).toEqual([100])
  },
)

it("each of 40 connections that pipeline 100 requests and read the responses gets 100 responses", async () => {
  const other = await start()
  const counts = await pipeline(other, asking("GET", "/prepared"), 40, 100)
  expect(new Set(counts)).toEqual(new Set([100]))
  await other.stop(0)
})

it("a connection that sends only HEAD requests is closed after a complete response with Connection: close", async () => {
  const socket = await openSocket(server.port)
  let last = ""
  socket.setEncoding("latin1").on("data", (text: string) => {
    last = text
    socket.write(asking("HEAD", "/health"))
  })
  const isClosed = new Promise((resolve) => socket.on("close", resolve))
  socket.on("error", () => {})
  socket.write(asking("HEAD", "/health"))
  await isClosed
  expect(last).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(last).toMatch(/\r\nContent-Length: 2\r\n/)
  expect(last).toMatch(/\r\nConnection: close\r\n\r\n$/)
})

it("each of 300 pipelined requests for an unknown path gets its own request id, in the header and in the body", async () => {
  const socket = await openSocket(server.port)
  let text = ""
  socket.setEncoding("utf8").on("data", (part: string) => {
    text += part
  })
  socket.write(unknown.repeat(300))
  const inHeaders = () => [...text.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id)
  const inBodies = () => [...text.matchAll(/"request_id":"([^"]+)"/g)].map(([, id]) => id)
  await vi.waitFor(() => expect(inBodies()).toHaveLength(300), patiently)
  socket.destroy()
  expect(inHeaders()).toEqual(inBodies())
  expect(new Set(inHeaders()).size).toBe(300)
})

it("a server that is flooded with requests by twenty connections still serves other clients and can be stopped", async () => {
  const attacked = await start()
  const sockets: Array<Socket> = []
  let isOver = false
  const attack = async (): Promise<void> => {
    const socket = await flood(attacked, unknown).catch(() => undefined)
    if (socket === undefined) return
    sockets.push(socket)
    socket.on("close", () => isOver || void attack())
  }
  await Promise.all(Array.from({ length: 20 }, attack))
  const before = process.memoryUsage.rss()
  for (let times = 0; times < 5; times++) expect(await health(attacked)).toBe("ok")
  expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024)
  isOver = true
  await attacked.stop(2000)
  for (const socket of sockets) socket.destroy()
})
