import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Tokens } from "../../../src/accounts/sessions/tokens.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { claimsOf, login, mails, newestLink, password, register, someEmail } from "../person.ts"

let service: TestService
beforeAll(async () => {
  // The service assumes that other processes may change the database. So it does not rely on the snapshots in its
  // memory, and it notices changes that the tests make directly in the database.
  service = await serve({}, { peersPossible: true })
})

const post = (path: string, body: unknown, token?: string) =>
  service.call("POST", path, { body, ...(token === undefined ? {} : { token }) })
const refresh = (refresh_token: string) => post("/auth/token/refresh", { refresh_token })
const works = async (token: string) =>
  (await service.call("PATCH", "/account", { token, body: {} })).status === 200
/**
 * Moves the last refresh of a session into the past, so that the grace period of the previous refresh token has
 * ended.
 */
const pastGrace = async (sessionId: string) => {
  await service.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}',
    to_jsonb((state->'context'->>'rotatedAt')::float8 - 61000)) where kind = 'session' and id = ${sessionId}`
}

describe("login with a password", () => {
  it("accepts an email in any letter case", async () => {
    const { email } = await register(service)
    const answer = await login(service, email.toUpperCase())
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ has_password: true })
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(await works(answer.body.access_token)).toBe(true)
  })

  it("returns the same error for a wrong password and for a user who does not exist or cannot log in", async () => {
    const [known, off, gone] = [await register(service), await register(service), await register(service)]
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    await service.sql`update app_user set deleted_at = now() where id = ${gone.id}`
    const withoutPassword = someEmail()
    await post("/users", { email: withoutPassword })
    const answers = [
      await login(service, someEmail()),
      await login(service, known.email, "a wrong password"),
      await login(service, withoutPassword),
      await login(service, off.email),
      await login(service, gone.email),
      await post("/auth/token", { alternate_id: "nobody's", password }),
    ]
    for (const { body, status } of answers) {
      expect(status).toBe(401)
      expect({ ...body, request_id: "" }).toEqual({
        error: "Incorrect email or password.",
        code: "unauthorized",
        request_id: "",
      })
    }
  })

  it("computes a hash even for unknown emails, and returns 503 when the hash queue is full", async () => {
    const crowd = 60
    const costly = await serve({}, { database: service.database, passwords: { waiting: 8 } })
    const answers = await Promise.all(Array.from({ length: crowd }, () => login(costly, someEmail())))
    const counts = new Map<number, typeof answers>()
    for (const answer of answers) counts.set(answer.status, [...(counts.get(answer.status) ?? []), answer])
    // One login is being hashed and eight wait in the queue. Without hashing, every login would return 401
    // immediately.
    expect(counts.get(401)?.length).toBeLessThan(crowd)
    const refused = counts.get(503) ?? []
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    expect(counts.size).toBe(2)
  })

  it("rejects a body without a password, and a body with neither an email nor an `alternate_id`", async () => {
    expect((await post("/auth/token", { password })).status).toBe(400)
    expect((await post("/auth/token", { email: someEmail() })).status).toBe(400)
  })
})

describe("token refresh", () => {
  it("replaces the refresh token and returns a working access token", async () => {
    const person = await register(service)
    const next = await refresh(person.refresh)
    expect(next.status).toBe(200)
    expect(next.body.refresh_token).not.toBe(person.refresh)
    expect(claimsOf(next.body.access_token).sid).toBe(person.sessionId)
    expect(await works(next.body.access_token)).toBe(true)
    expect((await refresh(next.body.refresh_token)).status).toBe(200)
  })

  it("gives twenty concurrent requests the same new refresh token and working access tokens", async () => {
    const person = await register(service)
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(person.refresh)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const heads = new Set(answers.map(({ body }) => body.refresh_token))
    expect(heads.size).toBe(1)
    for (const { body } of answers) expect(await works(body.access_token)).toBe(true)
    const [row] = await service.sql`
      select state->'context'->>'generation' as generation, status from entity
       where kind = 'session' and owner_id = ${person.id}`
    expect(row).toEqual({ generation: "2", status: "Verified" })
    expect((await refresh([...heads][0])).status).toBe(200)
  })

  it("revokes the session when the previous refresh token is used after the grace period", async () => {
    const person = await register(service)
    const next = (await refresh(person.refresh)).body
    await pastGrace(person.sessionId)
    expect((await refresh(person.refresh)).status).toBe(401)
    expect((await refresh(next.refresh_token)).status).toBe(401)
    expect(await works(next.access_token)).toBe(false)
  })

  it("revokes the session immediately when a refresh token older than the previous token is used", async () => {
    const person = await register(service)
    const second = (await refresh(person.refresh)).body
    const third = (await refresh(second.refresh_token)).body
    expect((await refresh(person.refresh)).status).toBe(401)
    expect((await refresh(third.refresh_token)).status).toBe(401)
    expect(await works(third.access_token)).toBe(false)
    // Other sessions of the same user are not affected.
    expect((await login(service, person.email)).status).toBe(200)
  })

  it("rejects forged refresh tokens, and the session stays valid", async () => {
    const person = await register(service)
    const [sid, , kid, mac = ""] = person.refresh.split(".")
    const swapped = mac.startsWith("A") ? `B${mac.slice(1)}` : `A${mac.slice(1)}`
    const other = await register(service)
    const forged = [
      "",
      "x",
      `${sid}.1.${kid}.${swapped}`,
      `${sid}.2.${kid}.${mac}`,
      `${other.sessionId}.1.${kid}.${mac}`,
      `${sid}.1.nokey.${mac}`,
      person.token,
      `${person.refresh} `,
    ]
    for (const token of forged) expect([400, 401]).toContain((await refresh(token)).status)
    expect((await refresh(person.refresh)).status).toBe(200)
  })

  it("rejects the refresh tokens of an expired session and of a deactivated user", async () => {
    const [late, off] = [await register(service), await register(service)]
    await service.sql`update entity set version = version + 1,
      state = jsonb_set(state, '{context,expiresAt}', '1') where kind = 'session' and id = ${late.sessionId}`
    await service.sql`update app_user set deactivated_at = now() where id = ${off.id}`
    expect((await refresh(late.refresh)).status).toBe(401)
    expect((await refresh(off.refresh)).status).toBe(401)
  })
})

describe("access tokens", () => {
  const sign = (claims: object, kind: "access" | "pending" | "oauth-code" | "partner", ttlSeconds = 60) =>
    service.runtime.runPromise(Tokens.use((tokens) => tokens.sign(claims as never, { kind, ttlSeconds })))

  it("are rejected if they are forged or expired, or if their kind, user or claim `ep` is wrong", async () => {
    const { id, refresh: refreshToken, sessionId, token } = await register(service)
    const claims = { sub: id, sid: sessionId, ep: 0, role: "User" }
    expect(await works(await sign(claims, "access"))).toBe(true)
    const [head, payload, signature = ""] = token.split(".")
    const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url")
    const admin = Buffer.from(JSON.stringify({ ...claimsOf(token), role: "Admin" })).toString("base64url")
    const bad = [
      await sign(claims, "pending"),
      await sign(claims, "oauth-code"),
      await sign(claims, "partner"),
      await sign({ ...claims, ep: 1 }, "access"),
      await sign({ ...claims, sub: "00000000-0000-4000-8000-000000000000" }, "access"),
      await sign(claims, "access", -60),
      `${unsigned}.${payload}.`,
      `${head}.${admin}.${signature}`,
      `${head}.${payload}.${signature.split("").reverse().join("")}`,
      refreshToken,
      "null",
    ]
    for (const one of bad) expect((await service.call("POST", "/logout", { token: one })).status).toBe(401)
  })
})

describe("logout", () => {
  it("ends all sessions of the user and publishes an event on the session channel", async () => {
    const person = await register(service)
    const other = (await login(service, person.email)).body
    const answer = await service.call("POST", "/logout", { token: person.token, rawBody: "null" })
    expect(answer.status).toBe(200)
    for (const token of [person.token, other.access_token]) expect(await works(token)).toBe(false)
    for (const token of [person.refresh, other.refresh_token]) expect((await refresh(token)).status).toBe(401)
    const rows =
      await service.sql`select status from entity where kind = 'session' and owner_id = ${person.id}`
    expect(rows.map(({ status }) => status)).toEqual(["Revoked", "Revoked"])
    const events = await service.sql`select type, data from event where channel = ${`session:${person.id}`}`
    expect(events.at(-1)).toEqual({ type: "session.logged_out", data: { reason: "logout" } })
    expect((await login(service, person.email)).status).toBe(200)
  })

  it("requires a login session", async () => {
    expect((await service.call("POST", "/logout")).status).toBe(401)
  })
})

describe("mailed links", () => {
  const send = (body: object, token?: string) => post("/auth/magic_link", body, token)
  const consume = (token: string) => post("/auth/magic_link/consume", { token })
  const onlyEmail = async () => {
    const email = someEmail()
    return { email, tokens: (await post("/users", { email })).body }
  }

  it("can be requested for any address, and the response does not show whether the address is registered", async () => {
    const { email } = await onlyEmail()
    const withPassword = await register(service)
    await service.sql`update app_user set email_verified_at = now() where id = ${withPassword.id}`
    const answers = await Promise.all([
      send({ email }),
      send({ email: someEmail() }),
      send({ email: withPassword.email }),
      send({ user_id: "00000000-0000-4000-8000-000000000000" }),
    ])
    const [first] = answers
    expect(first?.status).toBe(200)
    expect(first?.body).toEqual({ status: "Active", message: expect.any(String) })
    for (const answer of answers) expect(answer.text).toBe(first?.text)
    const kinds = (await mails(service, withPassword.email)).map(({ kind }) => kind)
    expect(kinds).toEqual(["confirm_email"])
  })

  it("work only once, even if twenty concurrent requests use the same link", async () => {
    const { email } = await onlyEmail()
    await send({ email, redirect: "/partner/demo?x=1" })
    const link = new URL((await mails(service, email))[0]?.link ?? "")
    expect(link.pathname).toBe("/magic_link")
    expect(link.searchParams.get("redirect")).toBe("/partner/demo?x=1")
    const token = link.searchParams.get("refresh_token") ?? ""
    const answers = await Promise.all(Array.from({ length: 20 }, () => consume(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
  })

  it("are rejected if they are forged or expired, or after a password was set", async () => {
    const [late, set] = [await onlyEmail(), await onlyEmail()]
    await service.sql`update magic_link set expires_at = now() where email = ${late.email}`
    expect((await consume(await newestLink(service, late.email))).status).toBe(401)
    expect((await consume("A".repeat(43))).status).toBe(401)
    const unused = await newestLink(service, set.email)
    await send({ email: set.email })
    const used = (await consume(await newestLink(service, set.email))).body
    await service.call("PATCH", "/account", { token: used.access_token, body: { password } })
    expect((await consume(unused)).status).toBe(401)
  })

  it("confirm the email of a user with a password, and can be requested until the email is confirmed", async () => {
    const { email, token } = await register(service)
    await send({ email })
    expect((await mails(service, email)).map(({ kind }) => kind)).toEqual(["confirm_email", "confirm_email"])
    const before = await send({ email }, token)
    expect(before.body.status).toBe("RegisteredInactive")
    const link = await newestLink(service, email)
    expect((await post("/auth/magic_link/consume", { token: link }, token)).status).toBe(200)
    expect((await send({ email }, token)).body.status).toBe("RegisteredActive")
    expect(await mails(service, email)).toHaveLength(3)
  })

  it.each(["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/a\nb"])(
    "cannot be requested with the redirect %j, which is not a path of this site",
    async (redirect) => {
      expect((await send({ email: someEmail(), redirect })).status).toBe(400)
    },
  )

  it.each([null, ""])("contain no redirect if the requested redirect is %j", async (redirect) => {
    const { email } = await onlyEmail()
    expect((await send({ email, redirect })).status).toBe(200)
    const link = new URL((await mails(service, email))[0]?.link ?? "")
    expect(link.searchParams.has("redirect")).toBe(false)
  })

  it("are not sent to deactivated users, and earlier links of these users are rejected", async () => {
    const { email } = await onlyEmail()
    await service.sql`update app_user set deactivated_at = now() where email = ${email}`
    const before = await newestLink(service, email)
    await send({ email })
    expect(await mails(service, email)).toHaveLength(1)
    expect((await consume(before)).status).toBe(401)
  })

  it("can be inspected repeatedly until they are used", async () => {
    const { MagicLinks } = await import("../../../src/accounts/login/magic-links.ts")
    const { email } = await onlyEmail()
    const token = await newestLink(service, email)
    const inspect = () =>
      service.runtime.runPromise(Effect.flatMap(MagicLinks, (links) => links.inspect(token)))
    expect(await inspect()).toMatchObject({ email, purpose: "welcome" })
    expect(await inspect()).toMatchObject({ email, purpose: "welcome" })
    expect((await consume(token)).status).toBe(200)
    expect(await inspect()).toBeUndefined()
  })
})
