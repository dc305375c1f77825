import { beforeAll, describe, expect, it } from "vitest"
import { deviceName } from "../../../src/http/request/device.ts"
import { claimsOf, login, register, turnOnTotp } from "../../accounts/person.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({ TRUST_PROXY: "on" }, { peersPossible: true })
  two = await serve({ TRUST_PROXY: "on" }, { peersPossible: true, database: one.database })
})

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
const from = (device: string, address: string) => ({
  "user-agent": device,
  "x-forwarded-for": address,
})
const password = "correct horse battery"
const logInFrom = async (email: string, device: string, address: string) => {
  const answer = await one.call("POST", "/auth/token", {
    body: { email, password },
    headers: from(device, address),
  })
  return { ...answer.body, id: claimsOf(answer.body.access_token).sid }
}
const list = async (service: TestService, token: string) => {
  const answer = await service.call("GET", "/account/sessions", { token })
  expect(answer.status).toBe(200)
  return answer.body as ReadonlyArray<Record<string, unknown>>
}
const end = (service: TestService, token: string, id: string) =>
  service.call("DELETE", `/account/sessions/${id}`, { token })
const works = async (service: TestService, token: string) =>
  (await service.call("GET", "/cart", { token })).status === 200
/** Moves the times of a session into the past. */
const age = (id: string) =>
  one.sql`update entity set version = version + 1, created_at = created_at - interval '2 days', state =
            jsonb_set(state, '{context,rotatedAt}', to_jsonb((state->'context'->>'rotatedAt')::float8 - 86400000))
           where kind = 'session' and id = ${id}`

describe("the device of a session", () => {
  it.each([
    [firefox, "Firefox on Linux"],
    [iphone, "Safari on iPhone"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
      "Chrome on Android",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64) Unknown/1.0", "Browser on Linux"],
    ["curl/8.5.0", "curl/8.5.0"],
    [`${"x".repeat(500)} y`, "x".repeat(60)],
    ["\u0001<b>\u00e9", "<b>"],
    ["", "Unknown"],
  ])("with the User-Agent %j is shown as %j", (userAgent, shown) => {
    expect(deviceName(userAgent)).toBe(shown)
  })
})

describe("GET /account/sessions", () => {
  it("lists the user's sessions with device and address, and marks the session of the request", async () => {
    const person = await register(one)
    const desktop = await logInFrom(person.email, firefox, "192.0.2.10")
    const phone = await logInFrom(person.email, iphone, "2001:db8::7")
    const found = await list(two, phone.access_token)
    expect(found.map(({ id }) => id).toSorted()).toEqual([person.sessionId, desktop.id, phone.id].toSorted())
    expect(found.find(({ id }) => id === desktop.id)).toEqual({
      id: desktop.id,
      status: "Verified",
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: expect.any(String),
      device: "Firefox on Linux",
      address: "192.0.2.10",
      current: false,
    })
    expect(found.find(({ id }) => id === phone.id)).toMatchObject({
      device: "Safari on iPhone",
      address: "2001:db8::7",
      current: true,
    })
  })

  it("shows the device and the address of the last token refresh", async () => {
    const { email } = await register(one)
    const session = await logInFrom(email, firefox, "192.0.2.11")
    const renewed = await one.call("POST", "/auth/token/refresh", {
      body: { refresh_token: session.refresh_token },
      headers: from("curl/8.5.0", "192.0.2.12"),
    })
    const [, shown] = (await list(one, renewed.body.access_token)).toSorted((a) =>
      a["id"] === session.id ? 1 : -1,
    )
    expect(shown).toMatchObject({ device: "curl/8.5.0", address: "192.0.2.12" })
  })

  it("shows the last use by a request and by a page", async () => {
    const { email, token } = await register(one)
    const [used, unused, browsed] = [
      await logInFrom(email, firefox, "192.0.2.13"),
      await logInFrom(email, firefox, "192.0.2.13"),
      await logInFrom(email, firefox, "192.0.2.13"),
    ]
    for (const { id } of [used, unused, browsed]) await age(id)
    await one.call("GET", "/cart", { token: used.access_token })
    const visitor = makeVisitor(one)
    visitor.cookies.set("svc_session", browsed.refresh_token)
    expect((await visitor.get("/magic_link/done")).status).toBe(200)
    const found = await list(one, token)
    const lastUse = (id: string) =>
      Date.parse(String(found.find((one) => one["id"] === id)?.["last_used_at"]))
    expect(lastUse(used.id)).toBeGreaterThan(lastUse(unused.id))
    expect(lastUse(browsed.id)).toBeGreaterThan(lastUse(unused.id))
  })

  it("includes a login that waits for its two-factor code, and leaves ended and expired sessions out", async () => {
    const { email, token } = await register(one)
    const [ended, expired] = [
      await logInFrom(email, firefox, "192.0.2.14"),
      await logInFrom(email, firefox, "192.0.2.14"),
    ]
    await end(one, token, ended.id)
    await one.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,expiresAt}', '1')
                   where kind = 'session' and id = ${expired.id}`
    await turnOnTotp(one, token)
    const pending = claimsOf((await login(one, email)).body.access_token).sid
    const found = await list(one, token)
    expect(found.find(({ id }) => id === pending)).toMatchObject({ status: "Pending", current: false })
    for (const { id } of [ended, expired]) expect(found.map((one) => one["id"])).not.toContain(id)
  })

  it("requires a login session", async () => {
    const { token } = await register(one)
    const key = await one.call("POST", "/api_keys", {
      token,
      body: { name: "key", scopes: ["user:writeSelf"] },
    })
    const headers = { "x-api-key": key.body.api_key }
    expect((await one.call("GET", "/account/sessions", { headers })).status).toBe(401)
    expect((await one.call("GET", "/account/sessions")).status).toBe(401)
  })
})

describe("DELETE /account/sessions/{session_id}", () => {
  it("ends the tokens of this session in every process when it responds, and leaves the other sessions", async () => {
    const person = await register(one)
    const other = await logInFrom(person.email, iphone, "192.0.2.20")
    expect(await works(two, other.access_token)).toBe(true)
    expect((await end(one, person.token, other.id)).status).toBe(200)
    for (const service of [one, two]) {
      expect(await works(service, other.access_token)).toBe(false)
      expect(await works(service, person.token)).toBe(true)
      const refreshed = await service.call("POST", "/auth/token/refresh", {
        body: { refresh_token: other.refresh_token },
      })
      expect(refreshed.status).toBe(401)
    }
  })

  it("closes the live sockets of this session in every process, after an event on the channel `session`", async () => {
    const person = await register(one)
    const other = await logInFrom(person.email, iphone, "192.0.2.21")
    const connect = async (service: TestService, token: string) => {
      const socket = await liveSocket(service.url)()
      socket.send({ type: "connect", token })
      socket.send({ type: "subscribe", channel: "session" })
      await socket.take({ type: "subscribed" })
      return socket
    }
    const closed = [await connect(one, other.access_token), await connect(two, other.access_token)]
    const kept = await connect(two, person.token)
    await end(one, person.token, other.id)
    for (const socket of closed) expect((await socket.closing).code).toBe(4403)
    const { data } = await kept.take({ type: "event", event: "session.logged_out" })
    expect(data).toEqual({ session_id: other.id, reason: "ended" })
    kept.send({ type: "ping", id: "still-open" })
    await kept.take({ type: "pong", id: "still-open" })
    kept.close()
  })

  it("can end the session of the request itself", async () => {
    const { sessionId, token } = await register(one)
    expect((await end(one, token, sessionId)).status).toBe(200)
    expect(await works(two, token)).toBe(false)
  })

  it("returns 404 for a session of another user, an ended or an unknown session, and 400 for a malformed id", async () => {
    const [person, stranger] = [await register(one), await register(one)]
    const other = await logInFrom(person.email, firefox, "192.0.2.22")
    expect((await end(one, stranger.token, other.id)).status).toBe(404)
    expect(await works(one, other.access_token)).toBe(true)
    expect((await end(one, person.token, other.id.toUpperCase())).status).toBe(200)
    expect((await end(one, person.token, other.id)).status).toBe(404)
    expect((await end(one, person.token, "00000000-0000-4000-8000-000000000000")).status).toBe(404)
    expect((await end(one, person.token, "all")).status).toBe(400)
  })
})

it("a deleted account keeps no device and no address in its ended sessions", async () => {
  const person = await register(one)
  await logInFrom(person.email, firefox, "192.0.2.30")
  const deleted = await one.call("DELETE", `/users/${person.id}`, { token: person.token })
  expect(deleted.status).toBe(200)
  const rows = await one.sql`select state from entity where kind = 'session' and owner_id = ${person.id}`
  expect(rows).toHaveLength(2)
  for (const { state } of rows) expect(state.context).not.toHaveProperty("device")
})

it("the last use of sessions is written when the process stops", async () => {
  const third = await serve({}, { peersPossible: true, database: one.database })
  const person = await register(third)
  await third.call("GET", "/cart", { token: person.token })
  await third.stop()
  const rows = await one.sql`select used_at from session_use where session_id = ${person.sessionId}`
  expect(rows).toHaveLength(1)
})
