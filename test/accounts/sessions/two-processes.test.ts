import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { login, password, register, someEmail } from "../person.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({ RATE_LIMIT: "on" }, { peersPossible: true })
  two = await serve({ RATE_LIMIT: "on" }, { peersPossible: true, database: one.database })
})

const works = async (service: TestService, token: string) =>
  (await service.call("PATCH", "/account", { token, body: {} })).status === 200
const refresh = (service: TestService, refresh_token: string) =>
  service.call("POST", "/auth/token/refresh", { body: { refresh_token } })

describe("two processes on one database", () => {
  it("both reject a token as soon as one process acknowledges a logout", async () => {
    const person = await register(one)
    expect(await works(two, person.token)).toBe(true)
    expect((await one.call("POST", "/logout", { token: person.token })).status).toBe(200)
    expect(await works(two, person.token)).toBe(false)
    expect(await works(one, person.token)).toBe(false)
    expect((await refresh(two, person.refresh)).status).toBe(401)
  })

  it("both reject a token as soon as one process acknowledges a password change", async () => {
    const person = await register(one)
    expect(await works(two, person.token)).toBe(true)
    const changed = await one.call("PATCH", "/account", {
      token: person.token,
      body: { password: "another password", current_password: password },
    })
    expect(changed.status).toBe(200)
    expect(await works(two, person.token)).toBe(false)
    expect(await works(two, changed.body.token_response.access_token)).toBe(true)
  })

  it("return the same new refresh token to twenty concurrent requests that send the same refresh token", async () => {
    const person = await register(one)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => refresh(i % 2 === 0 ? one : two, person.refresh)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect((await refresh(two, answers[0]?.body.refresh_token)).status).toBe(200)
  })

  it("both reject a session as soon as one process revokes it because a refresh token was reused", async () => {
    const person = await register(one)
    const second = (await refresh(one, person.refresh)).body
    const third = (await refresh(two, second.refresh_token)).body
    expect(await works(two, third.access_token)).toBe(true)
    expect((await refresh(one, person.refresh)).status).toBe(401)
    expect(await works(two, third.access_token)).toBe(false)
    expect((await refresh(two, third.refresh_token)).status).toBe(401)
  })
})

describe("rate limits", () => {
  it("count the failed logins of one account across processes, and return 429 with a retry time", async () => {
    const { email } = await register(one)
    const answers = []
    for (let i = 0; i < 21; i++) {
      answers.push(await login(i % 2 === 0 ? one : two, email, "a wrong password"))
    }
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill(401))
    const last = answers[20]
    expect(last?.status).toBe(429)
    expect(last?.body.code).toBe("too_many_requests")
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(last?.headers.get("ratelimit-limit")).toBe("20")
    expect(last?.headers.get("ratelimit-remaining")).toBe("0")
    // The right password is rejected too, so that an attacker learns nothing from further guesses.
    expect((await login(two, email)).status).toBe(429)
  })

  it("reset the number of failed logins of an account after a successful login", async () => {
    const { email } = await register(one)
    for (let i = 0; i < 10; i++) await login(one, email, "a wrong password")
    expect((await login(two, email)).status).toBe(200)
    for (let i = 0; i < 15; i++) expect((await login(one, email, "a wrong password")).status).toBe(401)
  })

  it("allow ten mails to an address, whether or not the address is registered", async () => {
    const known = someEmail()
    await one.call("POST", "/users", { body: { email: known } })
    for (const email of [known, someEmail()]) {
      const statuses = []
      for (let i = 0; i < 11; i++) {
        const service = i % 2 === 0 ? one : two
        statuses.push((await service.call("POST", "/auth/magic_link", { body: { email } })).status)
      }
      expect(statuses).toEqual([...Array(10).fill(200), 429])
    }
  })

  it("are shown in response headers with the limit, the remaining requests and the reset time", async () => {
    const answer = await one.call("POST", "/auth/magic_link", { body: { email: someEmail() } })
    const remaining = Number(answer.headers.get("ratelimit-remaining"))
    expect(Number(answer.headers.get("ratelimit-limit"))).toBe(120)
    expect(remaining).toBeLessThan(120)
    expect(remaining).toBeGreaterThan(0)
    expect(Number(answer.headers.get("ratelimit-reset"))).toBeGreaterThan(0)
  })

  it("also limit how many mails one IP address can request in total, for any email addresses", async () => {
    const [row] = await one.sql`select key from rate_window where key like 'mail/address/%'`
    await one.sql`update rate_window set used = 120, resets_at = now() + interval '30 seconds' where key = ${row?.["key"]}`
    const answer = await two.call("POST", "/users", { body: { email: someEmail() } })
    expect(answer.status).toBe(429)
    await one.sql`update rate_window set resets_at = now() where key = ${row?.["key"]}`
    expect((await two.call("POST", "/users", { body: { email: someEmail() } })).status).toBe(200)
  })
})
