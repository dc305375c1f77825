import { once } from "node:events"
import { createServer } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Endpoint, RawRequest, RawResponse } from "../../src/http/endpoint.ts"
import { listenProblem } from "../../src/http/listen-problem.ts"
import { StaticResponse } from "../../src/http/response/static.ts"
import type { Server, ServerOptions } from "../../src/http/server.ts"
import { freePort } from "../fixtures/free-port.ts"
import { exchange, openSocket } from "../fixtures/raw-http.ts"
import { serveEndpoints } from "../fixtures/servers/http-server.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { patienceMs } from "../fixtures/suite/patience.ts"

type Handle = (request: RawRequest, respond: (response: RawResponse) => void) => (() => boolean) | undefined

/** The deadline of requests. It is longer than any response takes on a busy machine. */
const deadlineMs = patienceMs
const soonMs = 300
const late: Array<() => void> = []
const cancelled: Array<string> = []
const finished: Array<string> = []
/** Functions that send the responses of running requests. A test calls them later. */
const pending: Array<() => void> = []
const observed: Array<number> = []
let sentLarge = 0

const endpoint = (
  method: Endpoint["method"],
  path: string,
  handle: Handle,
  more: Partial<Endpoint> = {},
): Endpoint => ({
  method,
  path,
  headers: ["x-seen"],
  needsAddress: false,
  bodyLimitBytes: method === "get" ? 0 : 1000,
  handle: (request, respond) => handle(request, respond) ?? (() => true),
  ...more,
})

const json = (value: unknown, headers: RawResponse["headers"] = {}): RawResponse => ({
  status: 200,
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(value),
})

const lastWord = "the end"
const large = "0123456789".repeat(1_600_000) + lastWord

const preparedHead = { code: 200, status: "200 OK", lines: "Content-Type: application/json" }

const endpoints: ReadonlyArray<Endpoint> = [
  endpoint("get", "/echo/:one/:two", (r, respond) => {
    respond(json({ params: r.params, query: r.query, seen: r.headers["x-seen"] }))
    return undefined
  }),
  endpoint("get", "/fixed/word", (_r, respond) => {
    respond(json("word"))
    return undefined
  }),
  endpoint("get", "/fixed/:any", (r, respond) => {
    respond(json(r.params[0]))
    return undefined
  }),
  endpoint("post", "/body", (r, respond) => {
    respond(json({ bytes: r.body.length, text: Buffer.from(r.body).toString() }))
    return undefined
  }),
  endpoint(
    "post",
    "/no-body",
    (_r, respond) => {
      respond(json("done"))
      return undefined
    },
    { bodyLimitBytes: 0 },
  ),
  endpoint("get", "/large", (_r, respond) => {
    sentLarge++
    respond({ status: 200, body: large })
    return undefined
  }),
  endpoint("get", "/large-later", (_r, respond) => {
    setImmediate(() => respond({ status: 200, body: large }))
    return undefined
  }),
  endpoint("get", "/throws", () => {
    throw new Error("secret detail of the inside")
  }),
  endpoint("get", "/twice", (_r, respond) => {
    respond(json(1))
    respond(json(2))
    return undefined
  }),
  endpoint("get", "/never", () => () => cancelled.push("never") > 0),
  endpoint("get", "/late", (_r, respond) => {
    late.push(() => respond(json("too late")))
    return () => cancelled.push("late") > 0
  }),
  endpoint("get", "/slow", (_r, respond) => {
    pending.push(() => respond(json("slow but there")))
    return undefined
  }),
  endpoint("post", "/persistent", (_r, respond) => {
    pending.push(() => {
      finished.push("persistent")
      respond(json("done"))
    })
    return () => false
  }),
  endpoint("get", "/injects", (_r, respond) => {
    respond(json("x", { Location: "/a\r\nSet-Cookie: stolen=1" }))
    return undefined
  }),
  endpoint("get", "/empty", (_r, respond) => {
    respond({ status: 204 })
    return undefined
  }),
  endpoint(
    "get",
    "/prepared/:id",
    (r, respond) => {
      respond(json({ by: "handler", id: r.params[0] }))
      return undefined
    },
    {
      prepared: (view) =>
        view.getParameter(0) === "hot"
          ? new StaticResponse(preparedHead, '\r\nETag: "1"', '{"by":"preparation"}')
          : undefined,
    },
  ),
]

let server: Server
let url: string
beforeAll(async () => {
  server = await serveEndpoints(endpoints, {
    deadlineMs,
    observe: {
      prepared: () => () => {},
      answered: (_e, status) => void observed.push(status),
      aborted: () => {},
    },
  })
  url = `http://127.0.0.1:${server.port}`
})
afterAll(() => server.stop(500))

const startOther = (options: Partial<ServerOptions>) => serveEndpoints(endpoints, { deadlineMs, ...options })
const startHasty = async () => {
  const hasty = await startOther({ deadlineMs: soonMs })
  cleanUp(() => hasty.stop(500))
  return hasty
}
const get = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init)
const stillServes = async () => expect((await get("/fixed/word")).status).toBe(200)

describe("a request", () => {
  it("reaches its endpoint with decoded path parameters, the raw query and the declared headers", async () => {
    const answer = await get("/echo/%F0%9F%9A%80/a%2Fb?x=1&y=%20", {
      headers: { "X-Seen": "yes", "X-Other": "no" },
    })
    expect(await answer.json()).toEqual({ params: ["🚀", "a/b"], query: "x=1&y=%20", seen: "yes" })
  })
  it("may have a path with UTF-8 characters that are not percent-encoded", async () => {
    const text = await exchange(server.port, "GET /fixed/🚀🌊 HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(text).toContain('"🚀🌊"')
  })
  it("may have a request line and headers of 15,000 bytes in total", async () => {
    const query = `ids=${"🚀".repeat(1_000)}`
    const answer = await get(`/echo/a/b?${query}`, { headers: { "X-Seen": "x".repeat(3_000) } })
    expect(answer.status).toBe(200)
    expect(decodeURIComponent((await answer.json()).query)).toBe(query)
  })

  it("reaches an endpoint whose fixed path matches, rather than an endpoint with a path parameter", async () => {
    expect(await (await get("/fixed/word")).json()).toBe("word")
    expect(await (await get("/fixed/other")).json()).toBe("other")
  })
  it.each(["/fixed/%", "/fixed/%zz", "/fixed/%ff", "/fixed/%F0%9F", "/fixed/%C0%AF", "/fixed/a%00b"])(
    "with invalid percent-encoding or an encoded NUL in its path gets 400: %s",
    async (path) => {
      const text = await exchange(server.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 400 /)
      expect(text).toContain('"code":"invalid_request"')
    },
  )
  it("for an unknown path gets 404 with a JSON error body", async () => {
    const answer = await get("/nowhere")
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      code: "not_found",
      request_id: answer.headers.get("x-request-id"),
    })
  })
  it("with a method that the path does not support gets 405 and an Allow header with the supported methods", async () => {
    const answer = await get("/body")
    expect(answer.status).toBe(405)
    expect(answer.headers.get("allow")).toBe("OPTIONS, POST")
    expect((await get("/fixed/word", { method: "DELETE" })).headers.get("allow")).toBe("GET, HEAD, OPTIONS")
  })
  it("with HEAD does not block later requests of the same connection", async () => {
    const socket = await openSocket(server.port)
    let seen = ""
    socket.on("data", (chunk: Buffer) => {
      seen += chunk.toString()
    })
    const answered = async (method: string, path: string, status: string) => {
      seen = ""
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await expect.poll(() => seen).toContain(`HTTP/1.1 ${status}`)
    }
    await answered("HEAD", "/fixed/word", "200")
    await answered("POST", "/no-body", "200")
    await answered("HEAD", "/nothing", "404")
    await answered("POST", "/no-body", "200")
    socket.destroy()
  })
  it("with HEAD gets the status and the Content-Length of the GET response, and no body", async () => {
    const text = await exchange(
      server.port,
      "HEAD /fixed/word HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    )
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(text).toMatch(/content-length: 6/i)
    expect(text.split("\r\n\r\n")[1]).toBe("")
  })
  it("with OPTIONS gets the headers of a CORS preflight response", async () => {
    const answer = await get("/body", { method: "OPTIONS", headers: { Origin: "https://app.example" } })
    expect(answer.status).toBe(204)
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
    expect(answer.headers.get("access-control-allow-headers")).toContain("X-Api-Key")
    expect((await get("/nowhere", { method: "OPTIONS" })).status).toBe(404)
  })
  it("with OPTIONS gets `Authorization` and `*` as allowed headers, so that browsers may send any header", async () => {
    const { headers } = await get("/body", { method: "OPTIONS", headers: { Origin: "https://app.example" } })
    const allowed = headers.get("access-control-allow-headers")?.split(", ")
    expect(allowed).toEqual(expect.arrayContaining(["Authorization", "*"]))
    expect(headers.get("access-control-allow-credentials")).toBeNull()
  })
  it("keeps the client's X-Request-Id if its characters are safe, and otherwise gets a new request id", async () => {
    expect(
      (await get("/fixed/word", { headers: { "X-Request-Id": "abc-1" } })).headers.get("x-request-id"),
    ).toBe("abc-1")
    const odd = await get("/fixed/word", { headers: { "X-Request-Id": 'a"b<c>' } })
    expect(odd.headers.get("x-request-id")).toMatch(/^[0-9a-f]{12}-/)
  })
})

describe("a request body", () => {
  it("reaches the handler completely if it arrives in several pieces", async () => {
    const socket = await openSocket(server.port)
    let seen = ""
    socket.on("data", (chunk) => {
      seen += chunk
    })
    socket.write("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nab")
    await new Promise((r) => setTimeout(r, 50))
    socket.write("cd")
    await new Promise((r) => setTimeout(r, 50))
    socket.write("ef")
    await expect.poll(() => seen).toContain('{"bytes":6,"text":"abcdef"}')
    socket.destroy()
  })
  it("of exactly the maximum size is accepted, and a body that is one byte larger gets 413", async () => {
    expect((await get("/body", { method: "POST", body: "x".repeat(1000) })).status).toBe(200)
    const over = await get("/body", { method: "POST", body: "x".repeat(1001) })
    expect(over.status).toBe(413)
    expect(await over.json()).toMatchObject({ code: "body_too_large" })
    await stillServes()
  })
  it("in chunked encoding, without Content-Length, gets 413 if it exceeds the maximum size", async () => {
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`
    const text = await exchange(
      server.port,
      `POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    await stillServes()
  })
  it("in chunks of one byte reaches the handler completely", async () => {
    const sent = "0123456789".repeat(90)
    const chunks = [...sent].map((byte) => `1\r\n${byte}\r\n`).join("")
    const text = await exchange(
      server.port,
      `POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    )
    expect(text).toContain(JSON.stringify({ bytes: sent.length, text: sent }))
  })
  it("that has not arrived completely at the deadline gets 503", async () => {
    const hasty = await startHasty()
    const text = await exchange(hasty.port, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab")
    expect(text).toMatch(/^HTTP\/1\.1 503 /)
    expect(text).toMatch(/retry-after: 1/i)
  })
  it("is ignored by an operation that takes no body, whether the body is absent, `null` or large", async () => {
    for (const body of [undefined, "null", '{"a":1}', "x".repeat(5000)]) {
      const answer = await get("/no-body", { method: "POST", ...(body === undefined ? {} : { body }) })
      expect(await answer.json()).toBe("done")
    }
  })
})

describe("a response", () => {
  it("of a handler that throws is 500 without internal details", async () => {
    const answer = await get("/throws")
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain("secret")
    await stillServes()
  })
  it("is the first response of a handler that responds twice", async () => {
    expect(await (await get("/twice")).json()).toBe(1)
    await stillServes()
  })
  it("that is not ready at the deadline is replaced by 503, and the work of the handler is cancelled", async () => {
    const hasty = await startHasty()
    const answer = await fetch(`http://127.0.0.1:${hasty.port}/late`)
    expect(answer.status).toBe(503)
    expect(cancelled).toContain("late")
    for (const respond of late) respond()
    await stillServes()
  })
  it("is no longer computed after the client has disconnected: the work of the handler is cancelled", async () => {
    const socket = await openSocket(server.port)
    socket.write("GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
    await expect.poll(() => server.inFlight()).toBe(1)
    socket.destroy()
    await expect.poll(() => cancelled.includes("never")).toBe(true)
    await expect.poll(() => server.inFlight()).toBe(0)
  })
  it("is 500 if the handler sets a header value that contains a line break", async () => {
    const answer = await get("/injects", { redirect: "manual" })
    expect(answer.status).toBe(500)
    expect(answer.headers.get("set-cookie")).toBeNull()
    await stillServes()
  })
  it.each(["/large", "/large-later"])(
    "that is larger than the buffers of the system arrives completely: %s",
    async (path) => {
      const socket = await openSocket(server.port)
      socket.setEncoding("utf8").pause()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      let text = ""
      for await (const part of socket) {
        text += part
        if (text.length > large.length && text.endsWith(lastWord)) break
      }
      expect(text.slice(text.indexOf("\r\n\r\n") + 4) === large).toBe(true)
    },
  )
  it("that the client does not read stops later requests of the connection: fewer than 10 of 60 are handled", async () => {
    sentLarge = 0
    const socket = await openSocket(server.port)
    socket.pause()
    socket.on("error", () => {})
    socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(60))
    await expect.poll(() => sentLarge).toBeGreaterThan(0)
    await stillServes()
    socket.destroy()
    expect(sentLarge).toBeLessThan(10)
  })
  it("with status 204 has no Content-Length", async () => {
    const text = await exchange(server.port, "GET /empty HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    expect(text).toMatch(/^HTTP\/1\.1 204 /)
    expect(text).not.toMatch(/content-length/i)
  })
  it("is the precomputed response if one exists, and otherwise the response of the handler", async () => {
    const hot = await get("/prepared/hot")
    expect(await hot.json()).toEqual({ by: "preparation" })
    expect(hot.headers.get("etag")).toBe('"1"')
    expect(hot.headers.get("x-request-id")).toMatch(/^[0-9a-f]{12}-\d+\.\d+$/)
    const next = await get("/prepared/hot")
    expect(next.headers.get("x-request-id")).not.toBe(hot.headers.get("x-request-id"))
    const named = await get("/prepared/hot", { headers: { "X-Request-Id": "abc-1" } })
    expect([named.headers.get("x-request-id"), named.headers.get("etag")]).toEqual(["abc-1", '"1"'])
    expect(await (await get("/prepared/cold")).json()).toEqual({ by: "handler", id: "cold" })
  })
})

describe("a server", () => {
  it("that is stopping waits for running work, even if the client of the work has disconnected", async () => {
    const other = await startOther({ allowedOrigins: ["https://app.example"] })
    const leaving = new AbortController()
    const left = fetch(`http://127.0.0.1:${other.port}/persistent`, {
      method: "POST",
      signal: leaving.signal,
    })
    await expect.poll(() => other.inFlight()).toBe(1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    const stopped = other.stop(patienceMs)
    expect(finished).toEqual([])
    for (const finish of pending.splice(0)) finish()
    await stopped
    expect(finished).toEqual(["persistent"])
    expect(other.inFlight()).toBe(0)
  })
  it("finishes running requests before it stops, and then accepts no new connection", async () => {
    const other = await startOther({ allowedOrigins: ["https://app.example"] })
    const running = fetch(`http://127.0.0.1:${other.port}/slow`, {
      headers: { Origin: "https://app.example" },
    })
    await expect.poll(() => other.inFlight()).toBe(1)
    const stopped = other.stop(patienceMs)
    for (const finish of pending.splice(0)) finish()
    const answer = await running
    expect(await answer.json()).toBe("slow but there")
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example")
    await stopped
    await expect(fetch(`http://127.0.0.1:${other.port}/fixed/word`)).rejects.toThrow()
  })
  it("does not start on a port that is in use, and the error names the port", async () => {
    await expect(serveEndpoints([], { port: server.port, allowedOrigins: [], deadlineMs })).rejects.toThrow(
      `port ${server.port}`,
    )
  })
})

describe("a port that cannot be listened on", () => {
  it("is reported with its setting if another process uses it", async () => {
    const port = await freePort()
    const other = createServer().listen(port, "127.0.0.1")
    await once(other, "listening")
    cleanUp(async () => void other.close())
    expect(await listenProblem("127.0.0.1", port, "METRICS_PORT")).toMatch(
      new RegExp(`^METRICS_PORT: port ${port} of 127\\.0\\.0\\.1 is in use\\. .*another METRICS_PORT\\.$`),
    )
  })

  it("is reported as a mistake in HOST if the address does not belong to this machine", async () => {
    expect(await listenProblem("192.0.2.1", await freePort())).toMatch(
      /^HOST: 192\.0\.2\.1 is no address of this machine\. /,
    )
  })

  it("is not reported if it is free", async () => {
    expect(await listenProblem("127.0.0.1", await freePort())).toBeUndefined()
  })
})
