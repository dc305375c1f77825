import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { claimsOf, login, newestLink, password, register } from "../person.ts"

const service = await serve({ ACCESS_TOKEN_SECONDS: "600" })
const post = (path: string, body: unknown) => service.call("POST", path, { body })

it("every answer with tokens has `expires_in`, the lifetime of its access token in seconds", async () => {
  const { email, token, tokens } = await register(service)
  const link = await newestLink(service, email)
  const password_changed = await service.call("PATCH", "/account", {
    token,
    body: { password: "another battery horse", current_password: password },
  })
  const given = {
    registration: tokens,
    "password login": (await login(service, email, "another battery horse")).body,
    "magic link": (await post("/auth/magic_link/consume", { token: link, password: "another battery horse" }))
      .body,
    "password change": password_changed.body.token_response,
  }
  const refreshed = await post("/auth/token/refresh", {
    refresh_token: given["password login"].refresh_token,
  })
  for (const [name, answer] of Object.entries({ ...given, refresh: refreshed.body })) {
    const { exp, iat } = claimsOf(answer.access_token)
    expect([name, answer.expires_in]).toEqual([name, exp - iat])
    expect(answer.expires_in).toBe(600)
  }
})
