import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { Credentials } from "../../src/client/credentials.ts"
import { LiveConnection } from "../../src/client/live/connection.ts"
import { FakeSocket } from "./fake-socket.ts"

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.all = []
  FakeSocket.answers = ({ type }, socket) => {
    if (type === "connect") socket.say({ type: "connected", user_id: "u", expires_at: null })
  }
})
afterEach(() => void vi.useRealTimers())

const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } })

const handlers = { state: () => {}, event: () => {} }

it("the live status is `logged_out` when the service closes the socket before it answers the logout", async () => {
  const credentials = new Credentials({ refreshToken: "r", accessToken: "a" }, async () => {
    throw new Error("not asked for")
  })
  const live = new LiveConnection({ url: "ws://x/live", socket: FakeSocket, credentials })
  live.subscribe("cart", handlers)
  await vi.advanceTimersByTimeAsync(10)
  expect(live.status).toBe("connected")
  FakeSocket.all[0]!.onclose?.({ code: 4403, reason: "session_ended" })
  credentials.leave()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(live.status).toBe("logged_out")
  live.close()
})

let logins = 0

/** Creates a client whose token refresh gets its response when the test calls `answer`. */
const slowRefresh = () => {
  let answer = () => {}
  const login = `slow-${++logins}`
  const kept: Array<string | undefined> = []
  const used: Array<string | null> = []
  const client = createClient({
    baseUrl: "http://x",
    refreshToken: login,
    accessToken: "stale",
    onTokens: (tokens) => void kept.push(tokens?.refreshToken),
    fetch: async (input, init) => {
      const path = new URL(String(input)).pathname
      if (path === "/auth/token") return json({ access_token: "bob", refresh_token: "bob-1" })
      if (path === "/logout") return json({})
      if (path === "/auth/token/refresh") {
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        return json({ access_token: "alice", refresh_token: `${login}-renewed` })
      }
      const token = new Headers(init?.headers).get("authorization")
      used.push(token)
      return token === "Bearer stale" ? json({ error: "stale" }, 401) : json({ user: token })
    },
  })
  return { client, kept, used, answer: () => answer() }
}

it("a refresh response that arrives after another user has logged in does not restore the first user", async () => {
  const { answer, client, kept, used } = slowRefresh()
  const early = client.call("GET /account")
  early.catch(() => {})
  await vi.advanceTimersByTimeAsync(1)
  await client.logIn({ email: "bob@example.com", password: "bob" })
  answer()
  // The request belongs to Alice. A retry would send it as Bob.
  await expect(early).rejects.toThrow()
  await client.call("GET /account")
  expect(used).toEqual(["Bearer stale", "Bearer bob"])
  expect(kept).toEqual(["bob-1"])
})

it("a refresh response that arrives after the logout does not restore the login", async () => {
  const { answer, client, kept } = slowRefresh()
  const early = client.call("GET /account")
  early.catch(() => {})
  await vi.advanceTimersByTimeAsync(1)
  await client.logOut()
  answer()
  await expect(early).rejects.toThrow()
  expect(kept).toEqual([undefined])
})

it("a call of one user that fails with 401 is not repeated with the token of the user who logged in next", async () => {
  const used: Array<string | null> = []
  let refuse = () => {}
  const client = createClient({
    baseUrl: "http://x",
    refreshToken: "alice-1",
    accessToken: "alice",
    fetch: async (input, init) => {
      const path = new URL(String(input)).pathname
      if (path === "/auth/token") return json({ access_token: "bob", refresh_token: "bob-1" })
      if (path === "/auth/token/refresh") return json({ access_token: "bob-2", refresh_token: "bob-2" })
      used.push(new Headers(init?.headers).get("authorization"))
      if (used.length === 1)
        await new Promise<void>((resolve) => {
          refuse = resolve
        })
      return json({ error: "logged out" }, 401)
    },
  })
  const alices = client.call("DELETE /cart")
  alices.catch(() => {})
  await vi.advanceTimersByTimeAsync(1)
  await client.logIn({ email: "bob@example.com", password: "bob" })
  refuse()
  await expect(alices).rejects.toMatchObject({ status: 401 })
  expect(used).toEqual(["Bearer alice"])
})

it("a call that fails with 401 is repeated with the token that another call has already renewed", async () => {
  let exchanges = 0
  let refuseLate = () => {}
  const late = new Promise<void>((resolve) => {
    refuseLate = resolve
  })
  const client = createClient({
    baseUrl: "http://x",
    refreshToken: "straggler",
    accessToken: "stale",
    fetch: async (input, init) => {
      const path = new URL(String(input)).pathname
      if (path === "/auth/token/refresh")
        return json({ access_token: `new-${++exchanges}`, refresh_token: `straggler-${exchanges}` })
      const token = new Headers(init?.headers).get("authorization")
      if (token !== "Bearer stale") return json({ token })
      if (path === "/cart") await late
      return json({ error: "stale" }, 401)
    },
  })
  const straggler = client.call("GET /cart")
  await client.call("GET /account")
  refuseLate()
  expect(await straggler).toEqual({ token: "Bearer new-1" })
  expect(exchanges).toBe(1)
})
