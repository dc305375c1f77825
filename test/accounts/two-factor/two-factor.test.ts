import { beforeAll, describe, expect, it, vi } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { claimsOf, login, mails, password, register, totpCode, turnOnTotp } from "../person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({}, { peersPossible: true })
})

const post = (path: string, body: unknown, token?: string) =>
  service.call("POST", path, { body, ...(token === undefined ? {} : { token }) })
const verify = (refresh_token: string, code: string) => post("/auth/2fa", { refresh_token, code })
const refresh = (refresh_token: string) => post("/auth/token/refresh", { refresh_token })
const patch = (body: unknown, token: string) => service.call("PATCH", "/account", { body, token })
const changesPassword = (token: string) =>
  patch({ password: "another password", current_password: password }, token)
const somePhone = () => `+1415${String(Math.floor(Math.random() * 1e7)).padStart(7, "0")}`
const totpUser = async () => {
  const person = await register(service)
  return { ...person, ...(await turnOnTotp(service, person.token)) }
}
const smsUser = async () => {
  const person = await register(service)
  const phone = somePhone()
  const enabled = await post("/account/2fa", { default: true, provider: "SMS", phone }, person.token)
  const code = (await mails(service, phone))[0]?.code ?? ""
  expect((await post("/account/2fa/confirm", { code }, person.token)).status).toBe(200)
  return {
    ...person,
    phone,
    setupCode: code,
    backupCodes: enabled.body.backup_codes as ReadonlyArray<string>,
  }
}
const wrongCode = (secret: string) => {
  const right = new Set([-1, 0, 1].map((steps) => totpCode(secret, steps)))
  return ["000000", "111111", "222222", "333333"].find((code) => !right.has(code)) ?? ""
}

describe("the setup of two-factor authentication", () => {
  it("returns a QR code, a secret and ten backup codes for the app, and takes effect when confirmed", async () => {
    const { email, token } = await register(service)
    const enabled = await post("/account/2fa", { default: true, provider: "AuthenticatorApp" }, token)
    expect(enabled.status).toBe(200)
    expect(enabled.body.ga_qr_code_svg).toContain("<svg")
    expect(enabled.body.ga_secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(new Set(enabled.body.backup_codes).size).toBe(10)
    expect((await login(service, email)).body).not.toHaveProperty("requires_2fa")

    const wrong = await post("/account/2fa/confirm", { code: wrongCode(enabled.body.ga_secret) }, token)
    expect(wrong.status).toBe(422)
    expect(wrong.body.fields.code[0].code).toBe("invalid")
    const confirmed = await post("/account/2fa/confirm", { code: totpCode(enabled.body.ga_secret) }, token)
    expect(confirmed.body).toEqual({ message: expect.any(String) })
    expect((await login(service, email)).body.requires_2fa).toBe("AuthenticatorApp")
    expect((await patch({}, token)).body.user.two_factor_auth).toEqual(["AuthenticatorApp"])
  })

  it("allows the session of the setup to change the password without another code", async () => {
    const { token } = await totpUser()
    expect((await changesPassword(token)).status).toBe(200)
  })

  it("is rejected if the authenticator app is already enabled", async () => {
    const { token } = await totpUser()
    const again = await post("/account/2fa/enable", { default: true, provider: "AuthenticatorApp" }, token)
    expect(again.status).toBe(422)
    expect(again.body.fields.provider[0].code).toBe("uniqueness")
  })

  it("requires a login session, a known provider, and a valid phone number for SMS", async () => {
    const body = { default: true, provider: "AuthenticatorApp" }
    expect((await post("/account/2fa/enable", body)).status).toBe(401)
    const { token } = await register(service)
    expect((await post("/account/2fa/enable", { provider: "Pigeon", default: true }, token)).status).toBe(400)
    expect((await post("/account/2fa/enable", { provider: "SMS", default: true }, token)).status).toBe(422)
    const { body: rejected } = await post(
      "/account/2fa",
      { provider: "SMS", default: true, phone: "12" },
      token,
    )
    expect(rejected.fields.phone[0].code).toBe("invalid")
  })
})

describe("login with a two-factor code", () => {
  it("returns a working access token only after the code is verified", async () => {
    const { email, id, secret } = await totpUser()
    const pending = (await login(service, email)).body
    expect(pending).toMatchObject({ requires_2fa: "AuthenticatorApp", has_password: true })
    expect(claimsOf(pending.access_token)).toMatchObject({ sub: id, exp: expect.any(Number) })
    expect((await patch({}, pending.access_token)).status).toBe(401)
    expect((await service.call("POST", "/logout", { token: pending.access_token })).status).toBe(401)

    const refreshed = (await refresh(pending.refresh_token)).body
    expect(refreshed.requires_2fa).toBe("AuthenticatorApp")
    expect((await patch({}, refreshed.access_token)).status).toBe(401)

    const done = await verify(refreshed.refresh_token, totpCode(secret))
    expect(done.status).toBe(200)
    expect(done.body).not.toHaveProperty("requires_2fa")
    expect((await patch({}, done.body.access_token)).status).toBe(200)
    const next = await refresh(done.body.refresh_token)
    expect(next.status).toBe(200)
    expect((await changesPassword(next.body.access_token)).status).toBe(200)
  })

  it("invalidates the refresh token that was returned before the code was verified", async () => {
    const { email, secret } = await totpUser()
    const pending = (await login(service, email)).body
    const done = (await verify(pending.refresh_token, totpCode(secret))).body
    expect((await refresh(pending.refresh_token)).status).toBe(401)
    expect((await refresh(done.refresh_token)).status).toBe(200)
  })

  it("accepts a code only once if twenty concurrent requests send it with the same refresh token", async () => {
    const { email, secret } = await totpUser()
    const pending = (await login(service, email)).body
    const code = totpCode(secret)
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(pending.refresh_token, code)))
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
    // A double click does not count as a wrong code: it neither locks nor revokes the session.
    expect((await refresh(winners[0]?.body.refresh_token)).status).toBe(200)
  })

  it("accepts a code only once if eight logins of the same user send it concurrently", async () => {
    const { email, secret } = await totpUser()
    const pending = await Promise.all(Array.from({ length: 8 }, () => login(service, email)))
    const code = totpCode(secret)
    const answers = await Promise.all(pending.map(({ body }) => verify(body.refresh_token, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(7)
  })

  it("is locked after five wrong codes and then rejects even the right code until the lock ends", async () => {
    const { email, id, secret } = await totpUser()
    const pending = (await login(service, email)).body
    const wrong = wrongCode(secret)
    for (let i = 0; i < 5; i++) expect((await verify(pending.refresh_token, wrong)).status).toBe(401)
    const locked = await verify(pending.refresh_token, totpCode(secret))
    expect(locked.status).toBe(429)
    expect(locked.body.state).toBe("Locked")
    expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(800)

    await service.sql`update two_factor_failure set locked_until = now() where user_id = ${id}`
    expect((await verify(pending.refresh_token, totpCode(secret))).status).toBe(200)
  })

  it("checks codes by the database's clock, not by the system clock", async () => {
    const { email, secret } = await totpUser()
    const code = totpCode(secret)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 })
    try {
      const pending = (await login(service, email)).body
      expect((await verify(pending.refresh_token, code)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  it("rejects an invalid refresh token and the code of a user without two-factor authentication", async () => {
    const { secret } = await totpUser()
    expect((await verify("nonsense", totpCode(secret))).status).toBe(401)
    const without = await register(service)
    expect((await verify(without.refresh, "123456")).status).toBe(401)
    expect((await refresh(without.refresh)).status).toBe(200)
  })

  it("accepts each backup code once", async () => {
    const { backupCodes, email } = await totpUser()
    const code = (backupCodes[3] ?? "").toUpperCase().replace("-", " ")
    const [one, two] = [(await login(service, email)).body, (await login(service, email)).body]
    expect((await verify(one.refresh_token, code)).status).toBe(200)
    expect((await verify(two.refresh_token, code)).status).toBe(401)
  })
})

describe("codes by SMS", () => {
  it("are sent at login and work only once", async () => {
    const { email, phone } = await smsUser()
    const before = (await mails(service, phone)).length
    const pending = (await login(service, email)).body
    expect(pending.requires_2fa).toBe("SMS")
    const [mail, ...others] = await mails(service, phone)
    expect(others).toHaveLength(before)
    expect(mail).toMatchObject({
      kind: "two_factor_sms",
      to: phone,
      code: expect.stringMatching(/^\d{6}$/),
    })
    expect(mail?.text).toContain(mail?.code)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => verify(pending.refresh_token, mail?.code ?? "")),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it("can be requested again with the token of a pending login", async () => {
    const { email, phone } = await smsUser()
    const pending = (await login(service, email)).body
    const first = (await mails(service, phone))[0]?.code ?? ""
    const sent = await service.call("POST", "/account/2fa/sms_code", { token: pending.access_token })
    expect(sent.body).toEqual({ message: expect.any(String), phone_last_digits: phone.slice(-4) })
    const second = (await mails(service, phone))[0]?.code ?? ""
    if (first !== second) expect((await verify(pending.refresh_token, first)).status).toBe(401)
    expect((await verify(pending.refresh_token, second)).status).toBe(200)
    expect((await service.call("POST", "/account/2fa/sms_code")).status).toBe(401)
  })

  it("are rejected after their expiry and after too many attempts", async () => {
    const { email, id, phone } = await smsUser()
    const pending = (await login(service, email)).body
    const code = (await mails(service, phone))[0]?.code ?? ""
    await service.sql`update sms_code set expires_at = now() where user_id = ${id}`
    expect((await verify(pending.refresh_token, code)).status).toBe(401)
    await service.sql`update sms_code set expires_at = now() + interval '1 minute', tries = 5 where user_id = ${id}`
    expect((await verify(pending.refresh_token, code)).status).toBe(401)
  })

  it("sent to an unconfirmed phone number cannot complete a login", async () => {
    const { email, secret, token } = await totpUser()
    const phone = somePhone()
    await post("/account/2fa/enable", { default: false, provider: "SMS", phone }, token)
    const code = (await mails(service, phone))[0]?.code ?? ""
    const pending = (await login(service, email)).body
    expect(pending.requires_2fa).toBe("AuthenticatorApp")
    expect((await verify(pending.refresh_token, code)).status).toBe(401)
    const response = await service.call("POST", "/account/2fa/sms_code", { token: pending.access_token })
    expect(response.status).toBe(422)
    expect((await verify(pending.refresh_token, totpCode(secret))).status).toBe(200)
    // The code was sent for the setup of the phone, so it can still complete that setup.
    expect((await post("/account/2fa/confirm", { code }, token)).status).toBe(200)
    expect((await patch({}, token)).body.user.two_factor_auth).toEqual(["AuthenticatorApp", "SMS"])
  })

  it("are listed by GET /dev/outbox even if the plus sign of the phone number is not URL-encoded", async () => {
    const { phone } = await smsUser()
    expect((await service.call("GET", `/dev/outbox?to=${phone}`)).body).toHaveLength(1)
  })
})

describe("disabling two-factor authentication", () => {
  it("requires an enabled provider or `disable_all`", async () => {
    const { email, token } = await totpUser()
    expect((await post("/account/2fa/disable", { disable_all: false }, token)).status).toBe(422)
    const absent = await post("/account/2fa/disable", { disable_all: false, provider: "SMS" }, token)
    expect(absent.status).toBe(404)
    expect((await post("/account/2fa/disable", { disable_all: true }, token)).status).toBe(200)
    expect((await login(service, email)).body).not.toHaveProperty("requires_2fa")
  })

  it("allows a pending login to continue without a code", async () => {
    const { email, token } = await totpUser()
    const pending = (await login(service, email)).body
    await post("/account/2fa/disable", { disable_all: true }, token)
    const done = (await refresh(pending.refresh_token)).body
    expect(done).not.toHaveProperty("requires_2fa")
    expect((await patch({}, done.access_token)).status).toBe(200)
  })

  it("for the default provider makes the remaining provider the default", async () => {
    const { email, token } = await totpUser()
    const phone = somePhone()
    await post("/account/2fa/enable", { default: false, provider: "SMS", phone }, token)
    await post("/account/2fa/confirm", { code: (await mails(service, phone))[0]?.code }, token)
    await post("/account/2fa/disable", { disable_all: false, provider: "AuthenticatorApp" }, token)
    expect((await login(service, email)).body.requires_2fa).toBe("SMS")
  })

  it("works with a backup code without a login; an unknown email and a wrong code get the same error", async () => {
    const { backupCodes, email } = await totpUser()
    const body = { backup_code: backupCodes[0], email, disable_all: true }
    const unknown = await post("/account/2fa/backup_disable", { ...body, email: `no-${email}` })
    const wrong = await post("/account/2fa/backup_disable", { ...body, backup_code: "0000-0000" })
    expect(unknown.status).toBe(422)
    expect({ ...unknown.body, request_id: "" }).toEqual({ ...wrong.body, request_id: "" })
    expect((await post("/account/2fa/backup_disable", { backup_code: backupCodes[0] })).status).toBe(422)
    const done = await post("/account/2fa/backup_disable", body)
    expect(done.body).toEqual({ message: expect.any(String) })
    expect((await login(service, email)).body).not.toHaveProperty("requires_2fa")
  })

  it("works with a backup code in a session and in a pending login", async () => {
    const [one, two] = [await totpUser(), await totpUser()]
    const inSession = { backup_code: one.backupCodes[1], provider: "AuthenticatorApp" }
    expect((await post("/account/2fa/backup_disable", inSession, one.token)).status).toBe(200)
    const pending = (await login(service, two.email)).body
    const waiting = { backup_code: two.backupCodes[1] }
    expect((await post("/account/2fa/backup_disable", waiting, pending.access_token)).status).toBe(200)
    expect((await refresh(pending.refresh_token)).body).not.toHaveProperty("requires_2fa")
  })
})

describe("the session channel", () => {
  it("publishes `session.two_factor_required` when a login requires a code", async () => {
    const { email, id } = await totpUser()
    const pending = (await login(service, email)).body
    const rows = await service.sql`select type, data from event where channel = ${`session:${id}`}`
    expect(rows).toEqual([
      {
        type: "session.two_factor_required",
        data: { session_id: claimsOf(pending.access_token).sid, provider: "AuthenticatorApp" },
      },
    ])
  })
})
