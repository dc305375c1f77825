import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { MalformedResponse, ResponseReader } from "../../../bench/load/response-reader.ts"

interface Seen {
  status: number
  body: string
  keepAlive: boolean
}

/**
 * Feeds the bytes to a reader, cut into chunks at the given positions. Returns the responses that were read. All
 * chunks use the same buffer, which is overwritten after each chunk, as with real sockets.
 */
function readAll(transport: string, cuts: readonly number[] = []): Seen[] {
  const seen: Seen[] = []
  const reader = new ResponseReader((status, buffer, start, end, keepAlive) =>
    seen.push({ status, body: buffer.toString("utf8", start, end), keepAlive }),
  )
  const bytes = Buffer.from(transport)
  const ends = [...new Set([...cuts.map((cut) => cut % bytes.length), bytes.length])].sort((a, b) => a - b)
  const shared = Buffer.alloc(bytes.length)
  let start = 0
  for (const end of ends) {
    bytes.copy(shared, 0, start, end)
    if (end > start) reader.feed(shared, end - start)
    shared.fill("x")
    start = end
  }
  return seen
}

const plain = (status: number, body: string) =>
  `HTTP/1.1 ${status} Whatever\r\nuWebSockets: 20\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const chunked = (parts: readonly string[]) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts
    .map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
    .join("")}0\r\n\r\n`

describe("the response reader", () => {
  it("reads one response from one chunk", () => {
    expect(readAll(plain(200, '{"a":1}'))).toEqual([{ status: 200, body: '{"a":1}', keepAlive: true }])
  })

  it("reads responses with status 204 or 304 without a body, even if they have a Content-Length", () => {
    const transport = `HTTP/1.1 304 Not Modified\r\ncontent-length: 12\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n${plain(200, "x")}`
    expect(readAll(transport).map(({ status, body }) => [status, body])).toEqual([
      [304, ""],
      [204, ""],
      [200, "x"],
    ])
  })

  it("skips an interim response and reads the final response", () => {
    expect(readAll(`HTTP/1.1 100 Continue\r\n\r\n${plain(201, "made")}`).map(({ status }) => status)).toEqual(
      [201],
    )
  })

  it("reports that the server will close the connection", () => {
    const transport = "HTTP/1.1 503 Busy\r\nConnection: Close\r\ncontent-length: 0\r\n\r\n"
    expect(readAll(transport)).toEqual([{ status: 503, body: "", keepAlive: false }])
  })

  it("reads the same responses regardless of the chunk boundaries", () => {
    const body = fc.string({ unit: "grapheme", maxLength: 60 })
    const response = fc.oneof(
      fc
        .tuple(fc.integer({ min: 200, max: 203 }), body)
        .map(([status, text]) => ({ transport: plain(status, text), text })),
      fc
        .array(
          body.filter((text) => text !== ""),
          { maxLength: 4 },
        )
        .map((parts) => ({ transport: chunked(parts), text: parts.join("") })),
    )
    fc.assert(
      fc.property(
        fc.array(response, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (all, cuts) => {
          const seen = readAll(all.map(({ transport }) => transport).join(""), cuts)
          expect(seen.map((one) => one.body)).toEqual(all.map(({ text }) => text))
        },
      ),
    )
  })

  it.each([
    ["something that is not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["a body of unknown length", "HTTP/1.1 200 OK\r\n\r\nhello"],
    ["a body that is too large", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  ])("rejects %s", (_, transport) => {
    expect(() => readAll(transport)).toThrow(MalformedResponse)
  })
})
