import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const call = (method: string, path: string, token: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) })

describe("OAuth clients", () => {
  const facts = {
    name: "Demo App",
    redirect_uris: ["https://app.example/callback", "http://localhost:8080/cb", "app.example://cb"],
  }

  it("can be created, listed without secrets, given a new secret, changed and deleted", async () => {
    const { id } = (await call("POST", "/organizations", admin.token, { name: "Acme" })).body
    const made = await call("POST", "/oauth_clients", admin.token, { ...facts, organization_id: id })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({ ...facts, organization_id: id })
    expect(made.body.client_secret).toMatch(/^svcs_[0-9a-z]{52}$/)
    const { body: list } = await call("GET", "/oauth_clients", admin.token)
    expect(JSON.stringify(list)).not.toContain("svcs_")
    const path = `/oauth_clients/${made.body.client_id}`
    const renewed = await call("POST", `${path}/secret`, admin.token)
    expect(renewed.body.client_secret).not.toBe(made.body.client_secret)
    expect(
      (await call("PATCH", path, admin.token, { redirect_uris: ["https://app.example/new"] })).body
        .redirect_uris,
    ).toEqual(["https://app.example/new"])
    expect((await call("DELETE", path, admin.token)).status).toBe(200)
    expect((await call("DELETE", path, admin.token)).status).toBe(404)
  })

  it("can have a redirect URI with a private-use scheme of RFC 8252", async () => {
    const uri = "com.example.app:/oauth2redirect/directory"
    const made = await call("POST", "/oauth_clients", admin.token, { name: "App", redirect_uris: [uri] })
    expect([made.status, made.body.redirect_uris]).toEqual([200, [uri]])
    const query = new URLSearchParams({
      response_type: "token",
      client_id: made.body.client_id,
      redirect_uri: uri,
    })
    const { headers } = await service.call("GET", `/authorize?${query}`)
    expect(headers.get("location")).toMatch(/^com\.example\.app:\/oauth2redirect\/directory\?error=/)
  })

  it.each([
    ["the scheme http and a host other than localhost", "http://app.example/callback"],
    ["a fragment", "https://app.example/callback#x"],
    ["the scheme javascript", "javascript:alert(1)"],
    ["501 characters", `https://app.example/${"a".repeat(481)}`],
    ["no scheme", "app.example/callback"],
    ["the scheme https but no host", "https:/app.example/callback"],
    ["the scheme javascript and a host name", "javascript:/app.example"],
    ["no slash after the scheme", "com.example.app:callback"],
    ["a scheme that is not a reversed domain", "app:/callback"],
  ])("cannot be created for a redirect URI with %s", async (_what, uri) => {
    const { status } = await call("POST", "/oauth_clients", admin.token, { name: "x", redirect_uris: [uri] })
    expect(status).toBe(400)
  })

  it("cannot be created without a redirect URI, for an unknown organization, or by a user who is not an administrator", async () => {
    expect((await call("POST", "/oauth_clients", admin.token, { name: "x", redirect_uris: [] })).status).toBe(
      400,
    )
    const unknown = { ...facts, organization_id: "00000000-0000-4000-8000-000000000000" }
    expect((await call("POST", "/oauth_clients", admin.token, unknown)).status).toBe(422)
    const user = await service.user()
    expect((await call("POST", "/oauth_clients", user.token, facts)).body.scope).toBe("organization:admin")
  })
})
