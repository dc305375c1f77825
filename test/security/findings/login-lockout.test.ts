import { beforeAll, describe, expect, it } from "vitest"
import { password } from "../../accounts/person.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { confirmedUser, newPassword, resetToken } from "./reset-link.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  const environment = { RATE_LIMIT: "on", TRUST_PROXY: "on" }
  one = await serve(environment, { peersPossible: true })
  two = await serve(environment, { peersPossible: true, database: one.database })
})

const wrong = "a wrong password"
const logIn = (service: TestService, email: string, secret: string, address: string) =>
  service.call("POST", "/auth/token", {
    body: { email, password: secret },
    headers: { "x-forwarded-for": address },
  })
const statusesOf = async (count: number, send: (i: number) => Promise<{ readonly status: number }>) => {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push((await send(i)).status)
  return statuses
}
/** Sets the count of the account's attempts from all addresses, as many attackers together would. */
const useUpAccount = (userId: string) =>
  one.sql`insert into rate_window (key, used, resets_at)
          values (${`login/account/${userId}`}, 200, now() + interval '10 minutes')
          on conflict (key) do update set used = 200`
const resetFrom = async (service: TestService, email: string, address: string) =>
  service.call("POST", "/auth/password_reset/confirm", {
    body: { token: await resetToken(service, email), password: newPassword },
    headers: { "x-forwarded-for": address },
  })

describe("wrong passwords for one account", () => {
  it("from one address, in any number and through both processes, do not lock the owner at another address out", async () => {
    const { email } = await confirmedUser(one)
    const statuses = await statusesOf(225, (i) => logIn(i % 2 === 0 ? one : two, email, wrong, "192.0.2.1"))
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(205).fill(429)])
    expect((await logIn(one, email, password, "192.0.2.1")).status).toBe(429)
    expect((await logIn(two, email, password, "198.51.100.7")).status).toBe(200)
  })

  it("are counted exactly if both processes receive them at the same time", async () => {
    const { email } = await confirmedUser(one)
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => logIn(i % 2 === 0 ? one : two, email, wrong, "192.0.2.2")),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  it("from many addresses are limited for the account too, whether the caller sends its email or its alternate_id", async () => {
    const { email, id } = await confirmedUser(one)
    await one.sql`update app_user set alternate_id = ${`device-of-${id}`} where id = ${id}`
    await useUpAccount(id)
    const byEmail = await logIn(one, email, wrong, "203.0.113.1")
    expect(byEmail.status).toBe(429)
    expect(byEmail.headers.get("ratelimit-limit")).toBe("200")
    const byAlternateId = await two.call("POST", "/auth/token", {
      body: { alternate_id: `device-of-${id}`, password: wrong },
      headers: { "x-forwarded-for": "203.0.113.2" },
    })
    expect(byAlternateId.status).toBe(429)
  })

  it("stay counted for the account when the owner logs in, so that a login gives attackers no new attempts", async () => {
    const { email, id } = await confirmedUser(one)
    await statusesOf(15, () => logIn(one, email, wrong, "192.0.2.3"))
    expect((await logIn(one, email, password, "198.51.100.8")).status).toBe(200)
    const [row] = await one.sql`select used from rate_window where key = ${`login/account/${id}`}`
    expect(row?.["used"]).toBe(15)
  })

  it("for an unknown address get the same responses as for a known one", async () => {
    const { email } = await confirmedUser(one)
    const known = await statusesOf(21, () => logIn(one, email, wrong, "192.0.2.4"))
    const unknown = await statusesOf(21, () => logIn(one, `no-${email}`, wrong, "192.0.2.4"))
    expect(unknown).toEqual(known)
  })
})

describe("a password reset", () => {
  it("lets the owner in after the attempts of the account and of the owner's address were used up", async () => {
    const { email, id } = await confirmedUser(one)
    const address = "198.51.100.9"
    await statusesOf(21, () => logIn(one, email, wrong, address))
    await useUpAccount(id)
    expect((await logIn(two, email, password, address)).status).toBe(429)
    expect((await resetFrom(one, email, address)).status).toBe(200)
    expect((await logIn(two, email, newPassword, address)).status).toBe(200)
    expect((await logIn(two, email, newPassword, "198.51.100.10")).status).toBe(200)
  })
})

describe("the current password in a login session", () => {
  it("can be entered although the attempts to log in are used up", async () => {
    const { id, token } = await confirmedUser(one)
    await useUpAccount(id)
    const changed = await one.call("PATCH", "/account", {
      token,
      body: { password: newPassword, current_password: password },
    })
    expect(changed.status).toBe(200)
  })
})
