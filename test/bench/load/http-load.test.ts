import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import type { HttpTraffic } from "../../../bench/load/http-lane.ts"
import { runHttpLoad } from "../../../bench/load/http-load.ts"
import type { LoadPlan } from "../../../bench/load/lane.ts"
import { buildRequest, type Target } from "../../../bench/load/request.ts"
import { inTime } from "../../fixtures/suite/patience.ts"

const plan: LoadPlan = { connections: 4, warmupSeconds: 0.05, durationSeconds: 0.25, timeoutSeconds: 30 }
const impatient = { timeoutSeconds: 0.3 }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<Target> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { side: "test", host: "127.0.0.1", port, tls: false, basePath: "" }
}

const load = (target: Target, traffic: Partial<HttpTraffic> = {}, changes: Partial<LoadPlan> = {}) => {
  const request = buildRequest(target, { method: "POST", path: "/x", body: { a: "🐙" } })
  return runHttpLoad(target, { source: () => request, ...traffic }, { ...plan, ...changes }, undefined)
}

/** Repeats the run with longer and longer durations until more than `answers` responses arrive. */
const loadFor = (answers: number, target: Target, traffic: Partial<HttpTraffic> = {}) =>
  inTime(plan.durationSeconds, async (durationSeconds) => {
    const run = await load(target, traffic, { durationSeconds })
    return run.completed > answers ? run : undefined
  })

describe("an HTTP load without a fixed rate", () => {
  it("sends valid requests to a real server and counts the responses", async () => {
    const bodies = new Set<string>()
    const target = await serve((request, response) => {
      let body = ""
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on("end", () => {
        bodies.add(`${request.method} ${request.url} ${body}`)
        response.end("{}")
      })
    })
    const run = await loadFor(10, target, {
      check: ({ status, body }) => status === 200 && body.toString() === "{}",
    })
    expect(run.errors).toEqual({})
    expect(run.completed).toBeGreaterThan(10)
    expect([...bodies]).toEqual(['POST /x {"a":"🐙"}'])
    expect(run.latency.curve).toHaveLength(12)
    expect(run.latency.maxMs).toBeGreaterThanOrEqual(run.latency.p50Ms)
  })

  it("sends the requests of each connection in order and checks each response", async () => {
    const target = await serve((request, response) => response.end(request.url))
    const sent = [0, 0, 0, 0]
    const run = await loadFor(10, target, {
      source: (connection) => buildRequest(target, { path: `/${connection}/${sent[connection]!++}` }),
      check: ({ body }, connection) => body.toString() === `/${connection}/${sent[connection]! - 1}`,
    })
    expect(run.errors).toEqual({})
    expect(run.completed).toBeGreaterThan(10)
  })

  it("counts an unexpected status or body as an error", async () => {
    let served = 0
    const target = await serve((_, response) => {
      served++
      response.statusCode = served % 2 === 0 ? 500 : 200
      response.end("no")
    })
    const run = await load(target, { check: () => false })
    expect(run.completed).toBe(0)
    expect(Object.keys(run.errors).sort()).toEqual(["body", "status 500"])
  })

  it("accepts the statuses that a scenario expects", async () => {
    const target = await serve((_, response) => {
      response.statusCode = 404
      response.end()
    })
    const run = await loadFor(0, target, { statuses: [404] })
    expect(run.errors).toEqual({})
    expect(run.completed).toBeGreaterThan(0)
  })

  it("counts requests that get no response as timeouts", async () => {
    const target = await serve(() => {})
    const run = await load(target, {}, impatient)
    expect(run.completed).toBe(0)
    expect(run.errors["timeout"]).toBeGreaterThanOrEqual(plan.connections)
  })

  it("counts refused connections as errors, and completes the run", async () => {
    const target = await serve(() => {})
    server?.close()
    const run = await load(target)
    expect(run.completed).toBe(0)
    expect(run.errors["connect"]).toBeGreaterThanOrEqual(plan.connections)
  })

  it("reconnects when the server closes or resets the connection", async () => {
    let served = 0
    const target = await serve((request, response) => {
      served++
      if (served % 10 === 0) request.socket.destroy()
      else response.setHeader("connection", served % 3 === 0 ? "close" : "keep-alive").end("x")
    })
    const run = await loadFor(20, target)
    expect(run.completed).toBeGreaterThan(20)
    expect(Object.keys(run.errors)).toEqual(["reset"])
  })
})

describe("an HTTP load with a fixed rate", () => {
  it("sends exactly as many requests as the rate requires, at a low and at a high rate", async () => {
    for (const ratePerSecond of [800, 5_000]) {
      let served = 0
      const target = await serve((_, response) => {
        served++
        response.end("x")
      })
      const run = await load(target, {}, { ratePerSecond })
      expect(served).toBe(ratePerSecond * (plan.warmupSeconds + plan.durationSeconds))
      expect(run.completed).toBe(ratePerSecond * plan.durationSeconds)
      expect(run.offeredPerSecond).toBe(ratePerSecond)
      server?.close()
    }
  })

  it("adds the waiting time to the latency of requests that became due while the server stalled", async () => {
    const stallMs = 200
    let firstAtMs: number | undefined
    const target = await serve((_, response) => {
      firstAtMs ??= performance.now()
      const left = stallMs - (performance.now() - firstAtMs)
      if (left > 0) setTimeout(() => response.end("x"), left)
      else response.end("x")
    })
    // There is only one connection, so all other requests wait during the stall. If the latency were measured from
    // the actual send time, it would not include this waiting time.
    const run = await load(target, {}, { connections: 1, warmupSeconds: 0, ratePerSecond: 100 })
    expect(run.completed).toBe(25)
    expect(run.latency.p50Ms).toBeGreaterThan(20)
  })

  it("counts requests as unsent if no connection became free in time", async () => {
    const target = await serve(() => {})
    const run = await load(
      target,
      {},
      { ...impatient, connections: 1, warmupSeconds: 0, ratePerSecond: 1_000 },
    )
    expect(run.completed).toBe(0)
    expect(Object.values(run.errors).reduce((sum, count) => sum + count, 0)).toBe(250)
    expect(run.errors["unsent"]).toBeGreaterThan(200)
  })
})
