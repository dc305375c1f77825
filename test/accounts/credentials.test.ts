import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { startOauthService } from "../sign-in/oauth/oauth-service.ts"
import { claimsOf, login, password, register, someEmail } from "./person.ts"

const { service, codeFor, exchange } = await startOauthService()
const limited = await serve({ RATE_LIMIT: "on" })

it("an API key with the scope `user:write` cannot set the password or the email of a user", async () => {
  const admin = await service.user({ role: "Admin" })
  const made = await service.call("POST", "/api_keys", {
    token: admin.token,
    body: { name: "crm", scopes: ["user:write"], sensitive: true },
  })
  const patch = (body: Record<string, unknown>) =>
    service.call("PATCH", `/users/${admin.id}`, { headers: { "x-api-key": made.body.api_key }, body })
  expect((await patch({ first_name: "Ann" })).status).toBe(200)
  const changed = await patch({ password })
  const session = await login(service, admin.email)
  // A login with the new password would have scopes that the key does not have.
  expect(session.status).toBe(401)
  expect(changed.status).toBe(403)
  expect((await patch({ email: someEmail() })).status).toBe(403)
})

it("administrators must send their current password to change their own password or email", async () => {
  const admin = await register(limited)
  await limited.sql`update app_user set role = 'Admin' where id = ${admin.id}`
  const logIn = async (secret?: string) => (await login(limited, admin.email, secret)).body.access_token
  let token = await logIn()
  const patch = (body: Record<string, unknown>, id = admin.id) =>
    limited.call("PATCH", `/users/${id}`, { token, body })
  const capitals = admin.id.toUpperCase()
  expect((await patch({ active: false }, capitals)).status).toBe(403)
  for (const [body, id] of [
    [{ password: "a thief's own" }, admin.id],
    [{ password: "a thief's own" }, capitals],
    [{ email: someEmail() }, admin.id],
  ] as const) {
    const taken = await patch(body, id)
    expect(taken.status).toBe(422)
    expect(taken.body.fields.current_password[0].code).toBe("required")
  }
  expect((await patch({ password: "another password", current_password: password })).status).toBe(200)
  token = await logIn("another password")
  const statuses = []
  for (let i = 0; i < 21; i++) {
    statuses.push((await patch({ first_name: "Ann", current_password: `guess number ${i}` })).status)
  }
  expect(statuses.at(-1)).toBe(429)
})

it("a request with a valid and a forged API key counts against the rate limit of the valid key", async () => {
  const makeKey = async () => {
    const { token } = await limited.user()
    const made = await limited.call("POST", "/api_keys", { token, body: { name: "shop" } })
    return made.body.api_key as string
  }
  const [mine, theirs] = [await makeKey(), await makeKey()]
  const forged = `${theirs.slice(0, -4)}${theirs.endsWith("0000") ? "1111" : "0000"}`
  const guess = async (headers: Record<string, string>) =>
    (await limited.call("POST", "/cart/promo_code", { headers, body: { code: "GUESS" } })).status
  const statuses = []
  for (let i = 0; i < 61; i++)
    statuses.push(await guess({ authorization: `Bearer ${forged}`, "x-api-key": mine }))
  expect(statuses.at(-1)).toBe(429)
  expect(await guess({ "x-api-key": theirs })).not.toBe(429)
})

it("an OAuth code is rejected after its session was revoked because a refresh token was reused", async () => {
  const { code, visitor } = await codeFor()
  let refresh = visitor.cookies.get("svc_session") ?? ""
  const first = refresh
  for (let i = 0; i < 2; i++) {
    const { body } = await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
    refresh = body.refresh_token
  }
  const reused = await service.call("POST", "/auth/token/refresh", { body: { refresh_token: first } })
  expect(reused.status).toBe(401)
  expect(
    (await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })).status,
  ).toBe(401)
  expect((await exchange(code)).status).toBe(400)
})

it("registering and deleting an account repeatedly does not avoid the limit of mails to its address", async () => {
  const email = someEmail()
  let mails = 0
  for (let n = 0; n < 13; n++) {
    const made = await limited.call("POST", "/users", { body: { email } })
    if (made.status !== 200) break
    mails++
    const gone = await limited.call("DELETE", `/users/${claimsOf(made.body.access_token).sub}`, {
      token: made.body.access_token,
    })
    expect(gone.status).toBe(200)
  }
  expect(mails).toBeLessThanOrEqual(10)
})
