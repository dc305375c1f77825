import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { securityEventNames } from "../../../schema/accounts/security-event.ts"
import { deleteExpiredRows } from "../../../src/operations/housekeeping.ts"
import { login, password, register, someEmail, totpCode, turnOnTotp } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"
import { card, freshId, newShopper } from "../../orders/shopper.ts"
import { grant, makeIds } from "../../transfers/transfer-service.ts"
import { confirmedUser, confirmReset, resetToken } from "./reset-link.ts"

interface Entry {
  readonly event: string
  readonly actor: string
  readonly count: number
  readonly address?: string
  readonly user_agent?: string
  readonly details: Record<string, unknown>
}

const lines: Array<string> = []
const spy = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
cleanUp(async () => spy.mockRestore())
const service = await serve({ LOG_LEVEL: "Info" })
const admin = await service.user({ role: "Admin" })
const nextId = makeIds()

/** The log lines of security events about a user. */
const linesAbout = (subject: string | null) =>
  lines
    .map((line) => JSON.parse(line).message)
    .filter((message) => message?.event !== undefined && message.subject === subject)
const logOf = async (token: string, query = "") =>
  (await service.call("GET", `/account/security_log${query}`, { token })).body
const eventsOf = async (token: string) =>
  ((await logOf(token)).data as ReadonlyArray<Entry>).map(({ event }) => event)
const wrongLogins = (email: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => login(service, email, "not the password")))

describe("the security log of a user", () => {
  it("has an entry for a new session with its method, the address and the user agent", async () => {
    const person = await register(service)
    const { body } = await service.call("POST", "/auth/token", {
      body: { email: person.email, password },
      headers: { "user-agent": "Wallet/7" },
    })
    const { data } = await logOf(body.access_token)
    expect(data[0]).toMatchObject({
      event: "login.succeeded",
      actor: "self",
      address: "127.0.0.1",
      user_agent: "Wallet/7",
      details: { method: "password" },
    })
    expect(data[1].details.method).toBe("registration")
  })

  it("has an entry for a failed login, which names the attacker's address", async () => {
    const person = await register(service)
    expect((await wrongLogins(person.email, 1))[0]?.status).toBe(401)
    await expect.poll(() => eventsOf(person.token)).toContain("login.failed")
    const [entry] = (await logOf(person.token)).data
    expect(entry).toMatchObject({ event: "login.failed", actor: "anonymous", address: "127.0.0.1" })
  })

  it("gets at most ten entries of failed logins within a day, and counts the others", async () => {
    const person = await register(service)
    await wrongLogins(person.email, 25)
    const failed = async () =>
      ((await logOf(person.token)).data as ReadonlyArray<Entry>).filter(
        ({ event }) => event === "login.failed",
      )
    await expect.poll(async () => (await failed()).reduce((sum, { count }) => sum + count, 0)).toBe(25)
    expect(await failed()).toHaveLength(10)
  })

  it("has an entry when logins are locked after too many failed ones", async () => {
    const limited = await serve({ RATE_LIMIT: "on" })
    const person = await register(limited)
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => (await login(limited, person.email, "wrong password")).status),
    )
    expect(statuses).toContain(429)
    const events = async () =>
      (await limited.sql`select event from security_log where user_id = ${person.id}`).map(
        ({ event }) => event,
      )
    await expect.poll(events).toContain("login.locked")
  })

  it("has entries for a new password and for a new email address", async () => {
    const person = await register(service)
    const changed = await service.call("PATCH", "/account", {
      token: person.token,
      body: { current_password: password, password: "another password", email: someEmail() },
    })
    const events = await eventsOf(changed.body.token_response.access_token)
    expect(events).toEqual(expect.arrayContaining(["password.changed", "email.changed"]))
  })

  it("has entries for two-factor authentication: enabled, wrong code, login and disabled", async () => {
    const person = await register(service)
    const call = (path: string, body: unknown, token = person.token) =>
      service.call("POST", path, { token, body })
    const { secret } = await turnOnTotp(service, person.token)
    const { refresh_token } = (await login(service, person.email)).body
    expect((await call("/auth/2fa", { refresh_token, code: "000000" })).status).toBe(401)
    const passed = await call("/auth/2fa", { refresh_token, code: totpCode(secret) })
    expect(passed.status).toBe(200)
    const disabled = await call("/account/2fa/disable", { disable_all: true }, passed.body.access_token)
    expect(disabled.status).toBe(200)
    await expect.poll(() => eventsOf(person.token)).toContain("two_factor.failed")
    const events = await eventsOf(person.token)
    expect(events.filter((event) => event !== "two_factor.failed")).toEqual([
      "two_factor.disabled",
      "login.succeeded",
      "login.code_required",
      "two_factor.enabled",
      "login.succeeded",
    ])
  })

  it("has entries for a created and a deleted API key, without the secret of the key", async () => {
    const person = await register(service)
    const key = await service.call("POST", "/api_keys", { token: person.token, body: { name: "build" } })
    await service.call("DELETE", `/api_keys/${key.body.id}`, { token: person.token })
    const { data } = await logOf(person.token)
    expect(data[0]).toMatchObject({
      event: "api_key.deleted",
      details: { key_id: key.body.id, name: "build" },
    })
    expect(data[1].event).toBe("api_key.created")
    expect(JSON.stringify(data)).not.toContain(key.body.api_key)
    expect(lines.join("\n")).not.toContain(key.body.api_key)
  })

  it("has an entry for a role change by an administrator, whose id and address only administrators see", async () => {
    const person = await register(service)
    await service.call("PATCH", `/users/${person.id}`, { token: admin.token, body: { role: "Bot" } })
    const [own] = (await logOf(person.token)).data
    expect(own).toMatchObject({
      event: "role.changed",
      actor: "administrator",
      details: { from: "User", to: "Bot" },
    })
    expect(own).not.toHaveProperty("address")
    expect(own).not.toHaveProperty("actor_id")
    const seen = await service.call("GET", `/users/${person.id}/security_log`, { token: admin.token })
    expect(seen.body.data[0]).toMatchObject({ actor_id: admin.id, address: "127.0.0.1" })
  })

  it("has no entry for a change of the role or the email to the same value", async () => {
    const person = await register(service)
    const body = { role: "User", email: person.email, active: true }
    expect((await service.call("PATCH", `/users/${person.id}`, { token: admin.token, body })).status).toBe(
      200,
    )
    expect(await eventsOf(person.token)).toEqual(["login.succeeded"])
  })

  it("has entries for a logout and for a session that was ended because its refresh token was used twice", async () => {
    const person = await register(service)
    const refresh = (refresh_token: string) =>
      service.call("POST", "/auth/token/refresh", { body: { refresh_token } })
    await refresh((await refresh(person.refresh)).body.refresh_token)
    expect((await refresh(person.refresh)).status).toBe(401)
    const { access_token } = (await login(service, person.email)).body
    await service.call("POST", "/logout", { token: access_token })
    const again = (await login(service, person.email)).body.access_token
    const { data } = await logOf(again)
    expect(data.find(({ event }: Entry) => event === "session.ended").details.reason).toBe(
      "refresh_token_reused",
    )
    expect(data.find(({ event }: Entry) => event === "sessions.ended").details.reason).toBe("logout")
  })

  it("has entries for a requested password reset and for the new password", async () => {
    const person = await confirmedUser(service)
    const { body } = await confirmReset(service, await resetToken(service, person.email))
    await expect.poll(() => eventsOf(body.access_token)).toContain("password.reset_requested")
    const { data } = await logOf(body.access_token)
    expect(data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: "password.reset", actor: "self" }),
        expect.objectContaining({
          event: "login.succeeded",
          details: expect.objectContaining({ method: "password_reset" }),
        }),
      ]),
    )
  })

  it("has an entry for a session that the user ended", async () => {
    const person = await register(service)
    await login(service, person.email)
    const { body: sessions } = await service.call("GET", "/account/sessions", { token: person.token })
    const other = sessions.find(({ current }: { current: boolean }) => !current)
    const ended = await service.call("DELETE", `/account/sessions/${other.id}`, { token: person.token })
    expect(ended.status).toBe(200)
    const [entry] = (await logOf(person.token)).data
    expect(entry).toMatchObject({
      event: "session.ended",
      details: { reason: "ended", session_id: other.id },
    })
  })

  it("has an entry for a new return link of an organization, if the user is an owner of the organization", async () => {
    const [owner, controller] = [await service.user(), await service.user()]
    const call = (method: string, path: string, body: unknown) =>
      service.call(method, path, { token: admin.token, body })
    const { body } = await call("POST", "/organizations", { name: "Octo", return_link: "wallet://old" })
    await call("PUT", `/organizations/${body.id}/members/${owner.id}`, { role: "OrgOwner" })
    await call("PUT", `/organizations/${body.id}/members/${controller.id}`, { role: "OrgController" })
    const link = { currencies: [], return_link: "wallet://new" }
    expect((await call("PUT", `/organizations/${body.id}/branding`, link)).status).toBe(200)
    const [entry] = (await logOf(owner.token)).data
    expect(entry).toMatchObject({
      event: "organization.return_link_changed",
      actor: "administrator",
      details: { organization_id: body.id, before: "wallet://old", after: "wallet://new" },
    })
    expect(await eventsOf(controller.token)).not.toContain("organization.return_link_changed")
  })

  it("has an entry for a mint signature", async () => {
    const owner = await service.user()
    const eid = nextId()
    await grant(service, owner, eid)
    const account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
    const path = `/emoji_id/${encodeURIComponent(eid)}/generate_signature`
    expect((await service.call("POST", path, { token: owner.token, body: { account } })).status).toBe(200)
    expect((await logOf(owner.token)).data[0]).toMatchObject({
      event: "mint.signed",
      details: { emoji_id: eid, account },
    })
  })

  it("is paged, newest first, and contains only the user's own entries", async () => {
    const [person, other] = [await register(service), await register(service)]
    await login(service, person.email)
    const { access_token } = (await login(service, person.email)).body
    const page = await logOf(access_token, "?limit=2&page=1")
    expect(page.paging).toMatchObject({ total: 3, limit: 2, page: 1 })
    expect(page.data.map(({ details }: Entry) => details["method"])).toEqual(["registration"])
    expect((await logOf(other.token)).paging.total).toBe(1)
  })

  it("of another user can be read by administrators only, and no API key reads the own log", async () => {
    const [person, other] = [await register(service), await register(service)]
    const path = `/users/${person.id}/security_log`
    expect((await service.call("GET", path, { token: other.token })).status).toBe(403)
    expect((await service.call("GET", path, { token: person.token })).status).toBe(403)
    const key = await service.call("POST", "/api_keys", { token: person.token, body: { name: "key" } })
    const headers = { "x-api-key": key.body.api_key }
    expect((await service.call("GET", "/account/security_log", { headers })).status).toBe(401)
    const unknown = "/users/00000000-0000-4000-8000-000000000000/security_log"
    expect((await service.call("GET", unknown, { token: admin.token })).status).toBe(404)
  })

  it("is deleted with the account", async () => {
    const person = await register(service)
    const removed = await service.call("DELETE", `/users/${person.id}`, { token: person.token })
    expect(removed.status).toBe(200)
    expect(await service.sql`select 1 from security_log where user_id = ${person.id}`).toHaveLength(0)
    expect(linesAbout(person.id).map(({ event }) => event)).toContain("account.deleted")
  })

  it("is kept for a year: housekeeping deletes older entries", async () => {
    const person = await register(service)
    const { access_token } = (await login(service, person.email)).body
    await service.sql`update security_log set at = now() - interval '13 months', last_at = now() - interval '13 months'
                       where user_id = ${person.id} and details->>'method' = 'registration'`
    await service.runtime.runPromise(deleteExpiredRows)
    const { data } = await logOf(access_token)
    expect(data.map(({ details }: Entry) => details["method"])).toEqual(["password"])
  })
})

describe("the log line of a security event", () => {
  it("is one JSON line with event, actor, subject, address and request_id", async () => {
    const person = await register(service)
    await service.call("POST", "/api_keys", {
      token: person.token,
      body: { name: "build" },
      headers: { "x-request-id": "request-7", "user-agent": "Wallet/7" },
    })
    expect(linesAbout(person.id).find(({ event }) => event === "api_key.created")).toEqual({
      event: "api_key.created",
      actor: person.id,
      subject: person.id,
      via: "session",
      address: "127.0.0.1",
      user_agent: "Wallet/7",
      request_id: "request-7",
      key_id: expect.any(String),
      name: "build",
    })
  })

  it("is written for a failed login with an unknown email too, without the email and the password", async () => {
    const email = someEmail()
    const before = linesAbout(null).length
    await wrongLogins(email, 1)
    expect(linesAbout(null).slice(before)).toMatchObject([{ event: "login.failed", actor: null }])
    expect(lines.join("\n")).not.toContain(email)
    expect(lines.join("\n")).not.toContain("not the password")
  })

  it("is written for refunds, refunds booked by hand and payments booked by hand", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const order = (await buyer.checkout(card)).body
    const call = (action: string, body: unknown) =>
      service.call("POST", `/orders/${order.id}/${action}`, { token: admin.token, body })
    const due = order.total_in_cents
    const paid = await call("payment_override", { amount: due, external_reference: "wire-1" })
    expect(paid.body.status).toBe("Paid")
    expect((await call("refund_override", { amount: 1, external_reference: "back-1" })).status).toBe(200)
    const about = linesAbout(buyer.id).filter(({ event }) => event.startsWith("order."))
    expect(about).toMatchObject([
      { event: "order.payment_overridden", actor: admin.id, order_id: order.id, cents: due },
      { event: "order.refund_overridden", actor: admin.id, order_id: order.id, cents: 1 },
    ])
  })

  it("has an event that docs/operating.md describes", () => {
    const text = readFileSync(join(import.meta.dirname, "../../../docs/operating.md"), "utf8")
    expect(securityEventNames.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})
