import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { endGrace, login, password, register, totpCode, turnOnTotp } from "../../accounts/person.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { makeVisitor } from "../../sign-in/oauth/application.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { peersPossible: true, database: one.database })
})

const totpUser = async () => {
  const person = await register(one)
  return { ...person, ...(await turnOnTotp(one, person.token)) }
}
const wrongCode = (secret: string) => {
  const right = new Set([-1, 0, 1].map((steps) => totpCode(secret, steps)))
  return ["000000", "111111", "222222", "333333"].find((code) => !right.has(code)) ?? ""
}
const pendingLogin = async (service: TestService, email: string) =>
  (await login(service, email)).body.refresh_token as string
const verify = (service: TestService, refresh_token: string, code: string) =>
  service.call("POST", "/auth/2fa", { body: { refresh_token, code } })
/** Enters `count` wrong codes. Each one is entered in a new login, alternately in both processes. */
const enterWrong = async (email: string, secret: string, count: number) => {
  const statuses = []
  for (let i = 0; i < count; i++) {
    const service = i % 2 === 0 ? one : two
    statuses.push((await verify(service, await pendingLogin(service, email), wrongCode(secret))).status)
  }
  return statuses
}
const endLock = (userId: string) =>
  one.sql`update two_factor_failure set locked_until = now() where user_id = ${userId}`
const changesPassword = (token: string) =>
  one.call("PATCH", "/account", { token, body: { password, current_password: password } })

describe("five wrong two-factor codes", () => {
  it("in five logins through two processes lock every login of the account, also new ones, until the lock ends", async () => {
    const { email, id, secret } = await totpUser()
    expect(await enterWrong(email, secret, 5)).toEqual(Array(5).fill(401))
    for (const service of [one, two]) {
      const refused = await verify(service, await pendingLogin(service, email), totpCode(secret))
      expect(refused.status).toBe(429)
      expect(refused.body.state).toBe("Locked")
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(800)
    }
    await endLock(id)
    expect((await verify(two, await pendingLogin(two, email), totpCode(secret))).status).toBe(200)
  })

  it("are counted exactly if twenty logins send wrong codes at the same time", async () => {
    const { email, id, secret } = await totpUser()
    const logins = await Promise.all(
      Array.from({ length: 20 }, (_, i) => pendingLogin(i % 2 === 0 ? one : two, email)),
    )
    const answers = await Promise.all(
      logins.map((token, i) => verify(i % 2 === 0 ? one : two, token, wrongCode(secret))),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15)
    const [row] = await one.sql`select wrong_codes from two_factor_failure where user_id = ${id}`
    expect(row?.["wrong_codes"]).toBe(5)
  })

  it("count again from zero after a right code", async () => {
    const { email, secret } = await totpUser()
    await enterWrong(email, secret, 4)
    expect((await verify(one, await pendingLogin(one, email), totpCode(secret))).status).toBe(200)
    expect(await enterWrong(email, secret, 4)).toEqual(Array(4).fill(401))
  })

  it("include wrong backup codes, and the lock also refuses a right backup code", async () => {
    const { backupCodes, email, secret } = await totpUser()
    await enterWrong(email, secret, 3)
    const token = (await login(one, email)).body.access_token
    const disable = (backup_code: string | undefined) =>
      one.call("POST", "/account/2fa/backup_disable", { token, body: { backup_code } })
    expect((await verify(one, await pendingLogin(one, email), "0000-0000")).status).toBe(401)
    expect((await disable("0000-0000")).status).toBe(422)
    expect((await verify(two, await pendingLogin(two, email), backupCodes[0] ?? "")).status).toBe(429)
    const refused = await disable(backupCodes[0])
    expect([refused.status, refused.body.state]).toEqual([429, "Locked"])
  })

  it("on the sign-in page lock the account for the API too", async () => {
    const { email, secret } = await totpUser()
    await enterWrong(email, secret, 4)
    const visitor = makeVisitor(one)
    visitor.cookies.set("svc_session", await pendingLogin(one, email))
    const page = await visitor.get("/magic_link/code")
    const refused = await visitor.submit(page, { action: "code", code: wrongCode(secret) })
    expect([refused.status, refused.text.includes("The code is wrong.")]).toEqual([422, true])
    expect((await verify(two, await pendingLogin(two, email), totpCode(secret))).status).toBe(429)
  })
})

describe("a session whose code was verified before the account was locked", () => {
  it("can do sensitive operations until its grace period ends, even after it entered a code during the lock", async () => {
    const { email, id, refresh, secret, token } = await totpUser()
    await enterWrong(email, secret, 5)
    expect((await verify(one, refresh, totpCode(secret))).status).toBe(429)
    const changed = await changesPassword(token)
    expect(changed.status).toBe(200)
    await endGrace(one, id)
    expect((await changesPassword(changed.body.token_response.access_token)).status).toBe(424)
  })

  it("receives `session.two_factor_locked` with the end of the lock on the live channel `session`", async () => {
    const { email, secret, token } = await totpUser()
    const socket = await liveSocket(two.url)()
    socket.send({ type: "connect", token })
    socket.send({ type: "subscribe", channel: "session" })
    await socket.take({ type: "subscribed" })
    await enterWrong(email, secret, 5)
    const { data } = await socket.take({ type: "event", event: "session.two_factor_locked" })
    expect(data).toEqual({ session_id: expect.any(String), locked_until: expect.any(String) })
    expect(Date.parse(data.locked_until)).toBeGreaterThan(0)
    socket.close()
  })
})

describe("a caller who has not shown the password", () => {
  it("cannot lock the account with wrong backup codes", async () => {
    const { email, secret } = await totpUser()
    for (let i = 0; i < 6; i++) {
      const refused = await one.call("POST", "/account/2fa/backup_disable", {
        body: { email, backup_code: "0000-0000" },
      })
      expect(refused.status).toBe(422)
    }
    expect((await verify(one, await pendingLogin(one, email), totpCode(secret))).status).toBe(200)
  })
})

describe("the lock of an account", () => {
  it("ends when an administrator removes its second factors", async () => {
    const { email, id, secret } = await totpUser()
    await enterWrong(email, secret, 5)
    const admin = await one.user({ role: "Admin" })
    expect((await one.call("DELETE", `/users/${id}/2fa`, { token: admin.token })).status).toBe(200)
    expect(await one.sql`select 1 from two_factor_failure where user_id = ${id}`).toHaveLength(0)
  })

  it("counts a wrong code once if its statement is repeated after a lost response", async () => {
    const { id } = await totpUser()
    const attempt = randomUUID()
    const prove = () =>
      one.sql`select check_second_factor(${id}, ${attempt}, null, false, '{}', '{}', 5, 900) as proof`
    const [[first], [second]] = [await prove(), await prove()]
    expect(second).toEqual(first)
    const [row] = await one.sql`select wrong_codes from two_factor_failure where user_id = ${id}`
    expect(row?.["wrong_codes"]).toBe(1)
  })
})
