import { Effect, Layer, ManagedRuntime, Tracer } from "effect"
import { afterEach, describe, expect, it, vi } from "vitest"
import { CurrentRequestTime, requestIdOf } from "../../src/postgres/request-time.ts"
import { logging, redact } from "../../src/telemetry/log.ts"

afterEach(() => vi.restoreAllMocks())

describe("a log line", () => {
  it("is one JSON object with the level; a line below the minimum level is not written", async () => {
    const lines: Array<string> = []
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
    const runtime = ManagedRuntime.make(Layer.mergeAll(logging({ logLevel: "Info" })))
    await runtime.runPromise(Effect.logInfo("hello", { route: "health" }))
    await runtime.runPromise(Effect.logDebug("below the minimum level"))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "INFO" })
    await runtime.dispose()
  })
  it("has the ids of the request and of the trace that it was written for", async () => {
    const lines: Array<string> = []
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
    const runtime = ManagedRuntime.make(logging({ logLevel: "Info" }, requestIdOf))
    const request = { requestId: "client-7", discardAt: 0, isStrict: false, hasWritten: false }
    const parent = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })
    const inRequest = Effect.provideService(Effect.logInfo("hello"), CurrentRequestTime, request)
    await runtime.runPromise(Effect.withParentSpan(inRequest, parent))
    await runtime.runPromise(Effect.logInfo("hello"))
    const ids = { request_id: "client-7", trace_id: "a".repeat(32), span_id: "b".repeat(16) }
    expect(JSON.parse(lines[0] ?? "")).toMatchObject(ids)
    for (const name of Object.keys(ids)) expect(JSON.parse(lines[1] ?? "")).not.toHaveProperty(name)
    await runtime.dispose()
  })
  it.each([
    ['{"password":"hunter2"}', "hunter2"],
    ['{"refresh_token":"abc.def"}', "abc.def"],
    ['{"X-Api-Key":"svc_ab12cd_0123456789abcdef"}', "0123456789abcdef"],
    ["got svc_ab12cd34_0123456789abcdef from a client", "0123456789abcdef"],
    ["Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "c2lnbmF0dXJl"],
    ["cannot reach postgres://app:s3cret@db/x", "s3cret"],
    ["cannot reach redis://:s3cret@cache/0", "s3cret"],
    [JSON.stringify({ password: 'quo"te s3cret' }), "s3cret"],
    ['{"code":"123456"}', "123456"],
  ])("does not contain a secret after redaction: %s", (line, secret) => {
    expect(redact(line)).not.toContain(secret)
  })
  it("without a secret is not changed by redaction", () => {
    expect(redact('{"message":"order paid","order":"🚀"}')).toBe('{"message":"order paid","order":"🚀"}')
  })
})
