import { beforeAll, describe, expect, it } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { delayAfterResponse } from "../../src/client/retry.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshId, newShopper } from "../orders/shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

type Fault = (send: () => Promise<Response>) => Promise<Response>
const lostRequest: Fault = () => Promise.reject(new TypeError("fetch failed"))
const lostResponse: Fault = async (send) => {
  await send()
  throw new TypeError("fetch failed")
}
const answering =
  (status: number, headers: Record<string, string> = {}): Fault =>
  async () =>
    new Response("{}", { status, headers: { "content-type": "application/json", ...headers } })

/** A client whose first requests have these faults, and the keys of all requests that it sends. */
const faulty = (faults: ReadonlyArray<Fault>, options: object = {}) => {
  const keys: Array<string | null> = []
  const client = createClient({
    baseUrl: service.url,
    ...options,
    fetch: (url, init) => {
      const fault = faults[keys.length]
      keys.push(new Headers(init?.headers).get("idempotency-key"))
      const send = () => fetch(url, init)
      return fault === undefined ? send() : fault(send)
    },
  })
  return { client, keys }
}

describe("a call of the client", () => {
  it.each([
    ["requests", lostRequest],
    ["responses", lostResponse],
  ])("is repeated with the same key after two lost %s, and has one effect", async (_what, fault) => {
    const { token } = await newShopper(service)
    const { client, keys } = faulty([fault, fault], { token })
    const emoji_id = freshId()
    // A second interest in the same id would be an error.
    const interest = await client.call("POST /user_interests", { body: { emoji_id } })
    expect(interest.emoji_id).toBe(emoji_id)
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], keys[0]])
  })

  it("has another key than the call before, and keeps the key that the application gives", async () => {
    const { token } = await newShopper(service)
    const { client, keys } = faulty([lostRequest], { token })
    await client.call("POST /user_interests", { body: { emoji_id: freshId() }, idempotencyKey: "mine" })
    await client.call("POST /user_interests", { body: { emoji_id: freshId() } })
    await client.call("POST /user_interests", { body: { emoji_id: freshId() } })
    expect(keys.slice(0, 2)).toEqual(["mine", "mine"])
    expect(new Set(keys).size).toBe(3)
  })

  it("fails with the error of the network after the last repetition", async () => {
    const { client, keys } = faulty([lostRequest, lostRequest, lostRequest])
    await expect(client.call("GET /emoji")).rejects.toThrow("fetch failed")
    expect(keys).toEqual([null, null, null])
  })

  it("is not repeated with `retries: 0`", async () => {
    const { client, keys } = faulty([lostRequest], { retries: 0 })
    await expect(client.call("GET /emoji")).rejects.toThrow("fetch failed")
    expect(keys).toHaveLength(1)
  })

  it("of an operation without keys is not repeated, because it could have two effects", async () => {
    const { client, keys } = faulty([lostRequest])
    const form = { body: { email: "someone@example.com" } } as never
    await expect(client.call("POST /magic_link", form)).rejects.toThrow("fetch failed")
    expect(keys).toEqual([null])
  })

  it.each([
    ["503 with `Retry-After`", answering(503, { "retry-after": "0", "x-request-id": "r" })],
    ["429 with `Retry-After`", answering(429, { "retry-after": "0", "x-request-id": "r" })],
    ["502 of a proxy", answering(502)],
  ])("is repeated after %s", async (_what, fault) => {
    const { client, keys } = faulty([fault, fault])
    expect(await client.call("GET /emoji")).toContain("🚀")
    expect(keys).toHaveLength(3)
  })

  it.each([
    ["503 of the service without `Retry-After`", answering(503, { "x-request-id": "r" }), undefined],
    ["`Retry-After` of more than 30 seconds", answering(429, { "retry-after": "31" }), 31],
    ["422", answering(422), undefined],
    ["500", answering(500), undefined],
  ])("is not repeated after %s", async (_what, fault, retryAfterSeconds) => {
    const { client, keys } = faulty([fault])
    const failed = client.call("GET /emoji")
    await expect(failed).rejects.toMatchObject({ name: "ApiError", retryAfterSeconds })
    expect(keys).toHaveLength(1)
  })

  it("that the application aborts fails with the reason, and is not repeated", async () => {
    const abort = new AbortController()
    const { client, keys } = faulty([answering(503, { "retry-after": "30" })])
    const waiting = client.call("GET /emoji", { signal: abort.signal })
    const failed = expect(waiting).rejects.toThrow("closed by the user")
    await expect.poll(() => keys.length).toBe(1)
    abort.abort(new Error("closed by the user"))
    await failed
    expect(keys).toHaveLength(1)
  })

  it("that is aborted before it begins sends nothing", async () => {
    const { client, keys } = faulty([])
    const signal = AbortSignal.abort(new Error("closed before"))
    await expect(client.call("GET /account", { signal })).rejects.toThrow("closed before")
    expect(keys).toEqual([])
  })
})

describe("the delay before a repetition", () => {
  const failed = (status: number, headers: Record<string, string>) => new Response(null, { status, headers })

  it("is at least the delay of `Retry-After`", () => {
    const delays = Array.from({ length: 100 }, () =>
      delayAfterResponse(failed(503, { "retry-after": "2" }), 1),
    )
    expect(Math.min(...delays.map(Number))).toBeGreaterThanOrEqual(2000)
    expect(Math.max(...delays.map(Number))).toBeLessThan(2600)
    expect(new Set(delays).size).toBeGreaterThan(50)
  })

  it("is also known for a `Retry-After` with a date, which a proxy may send", () => {
    const date = new Date(Date.now() + 20_000).toUTCString()
    const delay = delayAfterResponse(failed(503, { "retry-after": date }), 0)
    expect(delay).toBeGreaterThan(15_000)
    expect(delay).toBeLessThan(21_000)
  })

  it("does not exist after a success or an unreadable `Retry-After` of the service", () => {
    expect(delayAfterResponse(new Response("[]", { headers: { "retry-after": "1" } }), 0)).toBeUndefined()
    const unreadable = failed(503, { "retry-after": "soon", "x-request-id": "r" })
    expect(delayAfterResponse(unreadable, 0)).toBeUndefined()
  })
})
