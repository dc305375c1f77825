import { afterEach, beforeAll, expect, it, vi } from "vitest"
// The errors are imported from the public module of the package, as applications do.
import { ApiError, createClient, NetworkError } from "../../src/client/client.ts"
import { password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})
afterEach(() => void vi.restoreAllMocks())

it.each([".", "..", "", "\ud83d"])(
  "the client throws an `ApiError` for the path parameter %j",
  async (typed) => {
    const client = createClient({ baseUrl: service.url })
    const params = { emoji_id: typed }
    const refused = { status: 400, code: "invalid_request" }
    await expect(client.call("GET /emoji_id/{emoji_id}", { params })).rejects.toMatchObject(refused)
    await expect(
      client.call("GET /emoji_id/{emoji_id}/{tag}", { params: { ...params, tag: "BTC" } }),
    ).rejects.toBeInstanceOf(ApiError)
  },
)

/** Simulates a network that loses requests. */
const unanswered: typeof fetch = (_input, init) =>
  new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)))

it("a call that is aborted during a token refresh rejects without waiting for the refresh response", async () => {
  const giveUp = new AbortController()
  const client = createClient({
    baseUrl: service.url,
    refreshToken: "swallowed",
    fetch: (input, init) => {
      giveUp.abort(new Error("given up"))
      return unanswered(input, init)
    },
  })
  const { signal } = giveUp
  await expect(client.call("GET /account", { signal })).rejects.toThrow("given up")
  await expect(client.call("GET /account", { signal })).rejects.toThrow("given up")
})

it.each([
  ["call", { retries: 0, token: "a token" }],
  ["token refresh", { refreshToken: "never answered" }],
])("a %s without a response times out and does not block later calls", async (_what, options) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  let isSwallowed = true
  const client = createClient({
    baseUrl: service.url,
    ...options,
    fetch: (input, init) => (isSwallowed ? unanswered(input, init) : fetch(input, init)),
  })
  const timedOut = expect(client.call("GET /account")).rejects.toBeInstanceOf(NetworkError)
  await vi.advanceTimersByTimeAsync(60_000)
  await timedOut
  vi.useRealTimers()
  isSwallowed = false
  expect(await client.call("GET /emoji")).toContain("🚀")
})

it("a client whose login has ended deletes its tokens, calls public operations, and gets 401 for others", async () => {
  let refreshes = 0
  const reported: Array<unknown> = []
  const client = createClient({
    baseUrl: service.url,
    refreshToken: "ended long ago",
    onTokens: (tokens) => void reported.push(tokens),
    fetch: (input, init) => {
      if (String(input).endsWith("/auth/token/refresh")) refreshes++
      return fetch(input, init)
    },
  })
  expect(await client.call("GET /emoji")).toContain("🚀")
  await expect(client.call("GET /account")).rejects.toMatchObject({ status: 401 })
  expect(refreshes).toBe(1)
  expect(reported).toEqual([undefined])
})

it("a logged-in client that calls `POST /token` throws the OAuth error `invalid_client` of the response", async () => {
  const { email } = await register(service)
  const client = createClient({ baseUrl: service.url })
  await client.logIn({ email, password })
  const body = { grant_type: "authorization_code", client_id: "nobody", client_secret: "none" } as const
  await expect(client.call("POST /token", { body })).rejects.toMatchObject({
    status: 401,
    body: { error: "invalid_client", error_description: "Incorrect client_id or client_secret." },
  })
})
