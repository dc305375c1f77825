import { expect, it } from "vitest"
import { ensureAdmin } from "../../src/accounts/admins.ts"
import { serve } from "../fixtures/service.ts"
import { login, newestLink, password, register, turnOnTotp } from "./person.ts"

const settings = { ADMIN_EMAIL: "Root@Example.com", ADMIN_PASSWORD: "first admin password" }

it("startup creates the configured admin, and ends the admin's sessions only if ADMIN_PASSWORD changed", async () => {
  const service = await serve(settings)
  await service.runtime.runPromise(ensureAdmin)
  const { body, status } = await login(service, "root@example.com", settings.ADMIN_PASSWORD)
  expect(status).toBe(200)
  await service.runtime.runPromise(ensureAdmin)
  const me = await service.call("PATCH", "/account", { token: body.access_token, body: {} })
  expect(me.body.user).toMatchObject({ role: "Admin", email_verified_at: expect.any(String) })

  const changed = await serve(
    { ...settings, ADMIN_PASSWORD: "second admin password" },
    { database: service.database },
  )
  await changed.runtime.runPromise(ensureAdmin)
  expect((await login(changed, "root@example.com", settings.ADMIN_PASSWORD)).status).toBe(401)
  expect((await login(changed, "root@example.com", "second admin password")).status).toBe(200)
  const { status: refreshed } = await changed.call("POST", "/auth/token/refresh", {
    body: { refresh_token: body.refresh_token },
  })
  expect(refreshed).toBe(401)
})

it("startup sets ADMIN_PASSWORD for a deactivated account with ADMIN_EMAIL and ends its sessions", async () => {
  const service = await serve({ ...settings, ADMIN_EMAIL: "boss@example.com" })
  const { body } = await service.call("POST", "/users", { body: { email: "boss@example.com" } })
  await service.sql`update app_user set deactivated_at = now() where email = 'boss@example.com'`
  await Promise.all([service.runtime.runPromise(ensureAdmin), service.runtime.runPromise(ensureAdmin)])
  expect((await login(service, "boss@example.com", settings.ADMIN_PASSWORD)).status).toBe(200)
  const refresh = await service.call("POST", "/auth/token/refresh", {
    body: { refresh_token: body.refresh_token },
  })
  expect(refresh.status).toBe(401)
})

it("the admin inherits no second factor, API key or session from a stranger who registered ADMIN_EMAIL", async () => {
  const service = await serve({ ...settings, ADMIN_EMAIL: "chief@example.com" })
  const stranger = await service.call("POST", "/users", {
    body: { email: "chief@example.com", password: "a stranger's password" },
  })
  const token = stranger.body.access_token
  await turnOnTotp(service, token)
  const key = await service.call("POST", "/api_keys", { token, body: { name: "spare" } })
  const held = [token, key.body.api_key]
  const statuses = () =>
    Promise.all(held.map(async (token) => (await service.call("GET", "/account", { token })).status))
  expect(await statuses()).toEqual([200, 200])
  await service.runtime.runPromise(ensureAdmin)
  const { body, status } = await login(service, "chief@example.com", settings.ADMIN_PASSWORD)
  expect([status, body.requires_2fa ?? false]).toEqual([200, false])
  expect(await statuses()).toEqual([401, 401])
})

it("startup restores the confirmed email of an account that changed its email to ADMIN_EMAIL", async () => {
  const service = await serve({ ...settings, ADMIN_EMAIL: "head@example.com" })
  const mover = await register(service)
  const consumed = await service.call("POST", "/auth/magic_link/consume", {
    body: { token: await newestLink(service, mover.email), password },
  })
  expect(consumed.status).toBe(200)
  await turnOnTotp(service, mover.token)
  const moved = await service.call("PATCH", "/account", {
    token: mover.token,
    body: { email: "head@example.com", current_password: password },
  })
  expect(moved.status).toBe(200)

  await service.runtime.runPromise(ensureAdmin)
  const admin = await login(service, "head@example.com", settings.ADMIN_PASSWORD)
  expect([admin.status, admin.body.requires_2fa]).toEqual([200, undefined])
  const { body } = await service.call("GET", "/account", { token: mover.token })
  expect(body.user).toMatchObject({ role: "User", email: mover.email, email_verified_at: expect.any(String) })
})

it("startup creates no admin if ADMIN_EMAIL is not set", async () => {
  const service = await serve()
  await service.runtime.runPromise(ensureAdmin)
  await register(service)
  const [row] = await service.sql`select count(*)::int as admins from app_user where role = 'Admin'`
  expect(row).toEqual({ admins: 0 })
})
