import { expect, it } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { password, register } from "../accounts/person.ts"
import { serve } from "../fixtures/service.ts"
import { passGrace } from "./pass-grace.ts"

it.each([
  ["a minute later", "203.0.113.7"],
  ["a minute later from another network", "198.51.100.9"],
])("a token refresh whose response was lost can be repeated %s", async (_when, laterAddress) => {
  // With `peersPossible`, the service notices changes that the test makes in the database.
  const service = await serve({ TRUST_PROXY: "on" }, { peersPossible: true })
  const person = await register(service)
  const login = await service.call("POST", "/auth/token", { body: { email: person.email, password } })
  let lost = 0
  const client = createClient({
    baseUrl: service.url,
    refreshToken: login.body.refresh_token,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set("x-forwarded-for", lost === 0 ? "203.0.113.7" : laterAddress)
      const response = await fetch(input, { ...init, headers })
      if (!String(input).endsWith("/auth/token/refresh") || lost > 0) return response
      lost++
      throw new TypeError("fetch failed")
    },
  })
  await expect(client.call("GET /account")).rejects.toThrow("fetch failed")
  await passGrace(service, login.body.access_token)
  expect((await client.call("GET /account")).user.email).toBe(person.email)
})

it("two clients in one program that start with the same refresh token both stay logged in", async () => {
  const service = await serve({}, { peersPossible: true })
  const { email, refresh, token } = await register(service)
  const clients = [0, 1].map(() => createClient({ baseUrl: service.url, refreshToken: refresh }))
  for (const client of clients) {
    expect((await client.call("GET /account")).user.email).toBe(email)
    await passGrace(service, token)
  }
})
