import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { endGrace, login, password, register, totpCode, turnOnTotp } from "../person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({}, { peersPossible: true })
})

const disable = (token: string) =>
  service.call("POST", "/account/2fa/disable", { token, body: { disable_all: true } })
const rename = (token: string) => service.call("PATCH", "/account", { token, body: { first_name: "Ada" } })

describe("a session without a recently verified two-factor code", () => {
  it("gets 424 for sensitive operations until it verifies a new code, but not for other operations", async () => {
    const { email, id, refresh, token } = await register(service)
    const { secret } = await turnOnTotp(service, token)
    await endGrace(service, id)
    const stale = await disable(token)
    expect(stale.status).toBe(424)
    expect(stale.body.code).toBe("two_factor_required")
    const newPassword = { password: "another password", current_password: password }
    expect((await service.call("PATCH", "/account", { token, body: newPassword })).status).toBe(424)
    expect((await rename(token)).status).toBe(200)

    const fresh = await service.call("POST", "/auth/2fa", {
      body: { refresh_token: refresh, code: totpCode(secret) },
    })
    expect(fresh.status).toBe(200)
    // The grace period belongs to the session, so the earlier access token of the session works too.
    expect((await disable(token)).status).toBe(200)
    expect((await login(service, email)).body).not.toHaveProperty("requires_2fa")
  })

  it("can use sensitive operations if its user has not enabled two-factor authentication", async () => {
    const { id, token } = await register(service)
    await endGrace(service, id)
    const answer = await service.call("PATCH", "/account", {
      token,
      body: { password: "another password", current_password: password },
    })
    expect(answer.status).toBe(200)
  })

  it("gets 424 for sensitive operations if it began before two-factor authentication was enabled", async () => {
    const { email, token } = await register(service)
    const other = (await login(service, email)).body
    await turnOnTotp(service, token)
    expect((await disable(other.access_token)).status).toBe(424)
    expect((await rename(other.access_token)).status).toBe(200)
  })
})
