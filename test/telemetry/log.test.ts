import { Effect, Layer, ManagedRuntime } from "effect"
import { afterEach, describe, expect, it, vi } from "vitest"
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
