import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, describe, expect, it } from "vitest"
import { makeRequestTraces, parseTraceparent } from "../../src/telemetry/request-traces.ts"
import { freePort } from "../fixtures/free-port.ts"
import { startOtlpReceiver } from "../fixtures/servers/otlp-receiver.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const callerSpan = "00f067aa0ba902b7"
const sampled = `00-${traceId}-${callerSpan}-01`

const receiver = await startOtlpReceiver()
afterAll(() => receiver.stop())
const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER_ARG: "0" }

/** Adds an id to the cart of a new user, which is a turn of the user's order. */
const addToCart = async (service: TestService, traceparent?: string) => {
  const { token } = await service.user()
  return fetch(`${service.url}/cart`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${token}`,
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: JSON.stringify({ items: [{ emoji_id: "🐙🎈🎲🍀" }] }),
  })
}

describe("a write with a sampled traceparent", () => {
  it("passes its trace on to the service that POST /proxy calls", async () => {
    const seen: Array<string | undefined> = []
    const scraper = createServer((request, response) => {
      seen.push(request.headers["traceparent"] as string | undefined)
      response.end("text")
    })
    await new Promise<void>((listening) => scraper.listen(0, "127.0.0.1", listening))
    cleanUp(() => scraper.close())
    const { port } = scraper.address() as AddressInfo
    const service = await serve({ ...traced, SCRAPER_URL: `http://127.0.0.1:${port}/scrape` })
    const { token } = await service.user()
    const body = { service: "Scraper", data: "x" }
    const call = (headers: Record<string, string>) => service.call("POST", "/proxy", { token, body, headers })
    expect((await call({ traceparent: sampled })).status).toBe(200)
    await expect.poll(() => receiver.spans.some(({ name }) => name === "POST /proxy")).toBe(true)
    const request = receiver.spans.find(({ name }) => name === "POST /proxy")
    expect((await call({ traceparent: sampled.replace(/01$/, "00") })).status).toBe(200)
    expect(seen).toEqual([`00-${traceId}-${request?.spanId}-01`, undefined])
  })

  it("is exported as request, turn, statement and publish, with the caller's trace and the right parents", async () => {
    const service = await serve(traced)
    const answer = await addToCart(service, sampled)
    expect(answer.status).toBe(200)
    const named = (name: string) => receiver.spans.filter((span) => span.name === name)
    await expect.poll(() => named("POST /cart").length).toBe(1)
    const [request] = named("POST /cart")
    const [turn] = named("turn order")
    const [publish] = named("publish")
    const commit = named("postgres statement").find(({ attributes }) =>
      String(attributes["db.query.text"]).includes("commit_batch"),
    )
    expect(new Set(receiver.spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
    expect(request?.parentSpanId).toBe(callerSpan)
    expect(turn?.parentSpanId).toBe(request?.spanId)
    expect(commit?.parentSpanId).toBe(turn?.spanId)
    expect(publish?.parentSpanId).toBe(turn?.spanId)
    expect(request?.attributes).toMatchObject({
      "http.route": "/cart",
      request_id: answer.headers.get("x-request-id"),
    })
    expect(Number(request?.attributes["http.response.status_code"])).toBe(200)
  })
})

it.each([
  ["without a traceparent", undefined],
  ["with a traceparent that is not sampled", `00-${traceId}-${callerSpan}-00`],
  ["with a damaged traceparent", `00-${traceId.slice(1)}-${callerSpan}-01`],
])("a request %s is answered and not exported, if the ratio is 0", async (_, traceparent) => {
  const service = await serve(traced)
  const before = receiver.spans.length
  expect((await addToCart(service, traceparent)).status).toBe(200)
  await service.stop() // Stopping sends the spans that are left.
  expect(receiver.spans).toHaveLength(before)
})

it("without OTEL_EXPORTER_OTLP_ENDPOINT nothing is exported", async () => {
  const service = await serve()
  const before = receiver.requests()
  expect((await addToCart(service, sampled)).status).toBe(200)
  await service.stop()
  expect(receiver.requests()).toBe(before)
})

it.each([
  ["is down", async () => ({ url: `http://127.0.0.1:${await freePort()}`, stop: () => {} })],
  ["never answers", () => startOtlpReceiver({ answers: false })],
])("requests are answered and the service stops while the receiver %s", async (_, start) => {
  const { stop, url } = await start()
  const service = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
  expect((await addToCart(service)).status).toBe(200)
  await service.stop()
  stop()
})

describe("the decision whether a request is traced", () => {
  it("follows the sampled flag of a valid traceparent, and otherwise the ratio", () => {
    const never = makeRequestTraces(0)
    expect(never.start(sampled)?.parent).toMatchObject({ traceId, spanId: callerSpan })
    expect(never.start("")).toBeUndefined()
    const always = makeRequestTraces(1)
    expect(always.start("")).toEqual({ parent: undefined })
    expect(always.start(`00-${traceId}-${callerSpan}-00`)).toBeUndefined()
  })

  it("traces at most 100 requests per second", () => {
    let now = 0
    const traces = makeRequestTraces(1, () => now)
    const count = () => Array.from({ length: 300 }, () => traces.start(sampled)).filter(Boolean).length
    expect(count()).toBe(100)
    now = 1000
    expect(count()).toBe(100)
  })

  it.each([
    "",
    "00-",
    `ff-${traceId}-${callerSpan}-01`,
    `00-${"0".repeat(32)}-${callerSpan}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${callerSpan}-01`,
    `${sampled}-more`,
  ])("ignores the damaged traceparent %j", (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  it("accepts fields that a later version appends", () => {
    expect(parseTraceparent(`01-${traceId}-${callerSpan}-01-more`)).toMatchObject({ traceId })
  })
})
