import { describe, expect, it } from "vitest"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const call = (method: string, path: string, token: string, body?: unknown) =>
  service.call(method, path, { token, ...(body === undefined ? {} : { body }) })
const make = async (facts: Record<string, unknown> = {}) =>
  (await call("POST", "/organizations", admin.token, { name: "Acme", ...facts })).body as { id: string }
const join = (organizationId: string, userId: string, role: string, token = admin.token, email?: string) =>
  call("PUT", `/organizations/${organizationId}/members/${userId}`, token, { role, email })

describe("organizations", () => {
  it("can be created, changed and deleted by administrators", async () => {
    const made = await call("POST", "/organizations", admin.token, {
      name: "Wallet Co",
      partner_path: "wallet-co",
      return_link: "wallet://done",
    })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      name: "Wallet Co",
      partner_path: "wallet-co",
      return_link: "wallet://done",
    })
    const path = `/organizations/${made.body.id}`
    expect((await call("PATCH", path, admin.token, { name: "Wallet Company" })).body.partner_path).toBe(
      "wallet-co",
    )
    expect((await call("GET", path, admin.token)).body.name).toBe("Wallet Company")
    expect((await call("DELETE", path, admin.token)).status).toBe(200)
    expect((await call("GET", path, admin.token)).status).toBe(404)
  })

  it("must have a valid and unique partner path", async () => {
    await make({ partner_path: "acme" })
    const taken = await call("POST", "/organizations", admin.token, { name: "Other", partner_path: "acme" })
    expect(taken.status).toBe(422)
    expect(taken.body.fields.partner_path[0].code).toBe("uniqueness")
    for (const partner_path of ["", "UPPER", "a/b", "-a", "a b", "x".repeat(33)]) {
      expect(
        (await call("POST", "/organizations", admin.token, { name: "Other", partner_path })).status,
      ).toBe(400)
    }
  })

  it("are listed for their members, and administrators can list all organizations", async () => {
    const user = await service.user()
    const organization = await make()
    expect((await call("GET", "/organizations", user.token)).body.data).toEqual([])
    await join(organization.id, user.id, "OrgMember")
    const { body } = await call("GET", "/organizations", user.token)
    expect(body.data.map((o: { id: string }) => o.id)).toEqual([organization.id])
    const all = (await call("GET", "/organizations?limit=200&sort=name&dir=Asc", admin.token)).body
    expect(all.paging.total).toBe(all.data.length)
    expect(all.data.length).toBeGreaterThan(1)
  })

  it("allow members only what their role permits, and apply a new or removed membership immediately", async () => {
    const [owner, controller, member, stranger] = await Promise.all([1, 2, 3, 4].map(() => service.user()))
    const { id } = await make()
    const path = `/organizations/${id}`
    expect((await call("GET", path, owner!.token)).status).toBe(403)
    await join(id, owner!.id, "OrgOwner")
    expect((await join(id, controller!.id, "OrgController", owner!.token, controller!.email)).status).toBe(
      200,
    )
    expect((await join(id, member!.id, "OrgMember", owner!.token, member!.email)).status).toBe(200)
    const may = async (method: string, where: string, body?: unknown) =>
      Promise.all(
        [owner, controller, member, stranger].map(
          async (user) => (await call(method, where, user!.token, body)).status,
        ),
      )
    expect(await may("GET", path)).toEqual([200, 200, 200, 403])
    expect(await may("GET", `${path}/members`)).toEqual([200, 200, 200, 403])
    expect(await may("PATCH", path, { name: "New" })).toEqual([200, 200, 403, 403])
    expect(await may("PATCH", path, { partner_path: "grab" })).toEqual([403, 403, 403, 403])
    expect(await may("DELETE", path)).toEqual([403, 403, 403, 403])
    const asMember = { role: "OrgMember", email: stranger!.email }
    expect(await may("PUT", `${path}/members/${stranger!.id}`, asMember)).toEqual([200, 403, 403, 403])
    expect((await call("GET", path, stranger!.token)).status).toBe(200)
    await call("DELETE", `${path}/members/${stranger!.id}`, owner!.token)
    expect((await call("GET", path, stranger!.token)).status).toBe(403)
  })

  it("do not let the last owner leave or give up the role, but let an administrator remove the last owner", async () => {
    const [owner, other] = await Promise.all([service.user(), service.user()])
    const { id } = await make()
    await join(id, owner.id, "OrgOwner")
    expect((await join(id, owner.id, "OrgMember", owner.token)).status).toBe(409)
    expect((await call("DELETE", `/organizations/${id}/members/${owner.id}`, owner.token)).status).toBe(409)
    await join(id, other.id, "OrgOwner", owner.token, other.email)
    expect((await call("DELETE", `/organizations/${id}/members/${owner.id}`, owner.token)).body).toEqual({
      removed: owner.id,
    })
    expect((await call("DELETE", `/organizations/${id}/members/${other.id}`, admin.token)).status).toBe(200)
  })

  it("let an owner add a user only if the request contains the user's confirmed email address", async () => {
    const [owner, stranger] = await Promise.all([service.user(), service.user()])
    const { id } = await make()
    await join(id, owner.id, "OrgOwner")
    const guesses = [undefined, "", "no address", owner.email]
    for (const email of guesses) {
      const answer = await join(id, stranger.id, "OrgMember", owner.token, email)
      expect(answer.status).toBe(404)
      expect(answer.text).not.toContain(stranger.email)
    }
    await service.sql`update app_user set email_verified_at = null where id = ${stranger.id}`
    expect((await join(id, stranger.id, "OrgMember", owner.token, stranger.email)).status).toBe(404)
    expect((await call("GET", `/organizations/${id}/members`, owner.token)).body).toHaveLength(1)
    await service.sql`update app_user set email_verified_at = now() where id = ${stranger.id}`
    const added = await join(id, stranger.id, "OrgMember", owner.token, stranger.email.toUpperCase())
    expect(added.body).toMatchObject({ email: stranger.email, role: "OrgMember" })
    expect((await join(id, stranger.id, "OrgController", owner.token)).status).toBe(200)
  })

  it("accept only existing users as members and only organization roles", async () => {
    const user = await service.user()
    const { id } = await make()
    const unknown = "00000000-0000-4000-8000-000000000000"
    expect((await join(id, unknown, "OrgMember")).status).toBe(404)
    expect((await join(unknown, user.id, "OrgMember")).status).toBe(404)
    expect((await join(id, user.id, "Admin")).status).toBe(400)
    expect((await call("DELETE", `/organizations/${id}/members/${user.id}`, admin.token)).status).toBe(404)
  })

  it("that are deleted disappear from the roles of their members", async () => {
    const user = await service.user()
    const { id } = await make()
    await join(id, user.id, "OrgOwner")
    expect((await call("GET", "/account", user.token)).body.organization_roles).toEqual({ [id]: "OrgOwner" })
    await call("DELETE", `/organizations/${id}`, admin.token)
    expect((await call("GET", "/account", user.token)).body.organization_roles).toEqual({})
  })

  it("cannot be deleted while keys are assigned to them", async () => {
    const { id } = await make()
    await service.sql`insert into pubkey (pubkey, user_id, organization_id) values (${"ab".repeat(32)}, ${admin.id}, ${id})`
    expect((await call("DELETE", `/organizations/${id}`, admin.token)).status).toBe(409)
  })

  it("cannot be deleted until their codes are deleted", async () => {
    const { id } = await make()
    const code = { name: "ours", code_type: "Discount", discount_in_cents: 100, redemption_code: `ORG-${id}` }
    const made = await call("POST", "/codes", admin.token, { ...code, organization_id: id })
    expect((await call("DELETE", `/organizations/${id}`, admin.token)).status).toBe(409)
    await call("DELETE", `/codes/${made.body.id}`, admin.token)
    expect((await call("DELETE", `/organizations/${id}`, admin.token)).status).toBe(200)
    expect((await call("GET", `/organizations/${id}`, admin.token)).status).toBe(404)
  })
})

describe("the branding of an organization", () => {
  const branding = {
    currencies: ["BTC", "0x1004"],
    return_link: "https://wallet.example/done",
    logo: "https://wallet.example/logo.svg",
  }

  it("has all required fields before it is set", async () => {
    const { id } = await make()
    const { body } = await call("GET", `/organizations/${id}/branding`, admin.token)
    expectAnswer("GET", "/organizations/{id}/branding", body)
    expect(body).toMatchObject({
      organization_id: id,
      name: "Acme",
      currencies: [],
      return_link: "",
      requires_email: false,
    })
  })

  it("can be replaced completely by a controller, and cannot be read or replaced by other users", async () => {
    const owner = await service.user()
    const { id } = await make({ return_link: branding.return_link })
    await join(id, owner.id, "OrgController")
    const path = `/organizations/${id}/branding`
    const put = await call("PUT", path, owner.token, { ...branding, requires_email: true, logo_small: null })
    expect(put.status).toBe(200)
    expectAnswer("PUT", "/organizations/{id}/branding", put.body)
    expect(put.body).toMatchObject({ ...branding, requires_email: true })
    const second = await call("PUT", path, owner.token, { currencies: [], logo: "" })
    expect(second.body.return_link).toBe(branding.return_link)
    expect(second.body.logo).toBeUndefined()
    expect((await call("GET", path, owner.token)).body).toEqual(second.body)
    const stranger = await service.user()
    expect((await call("PUT", path, stranger.token, branding)).status).toBe(403)
    expect((await call("GET", path, stranger.token)).body.scope).toBe("organization:read")
  })

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt://x/%0aalert(1)",
    "data:text/html,x",
    "vbscript://x",
    "file:///etc/passwd",
    "intent://x#Intent;end",
    "//evil.example",
    "/relative",
    "https://user:pass@evil.example",
    "https://evil.example/\\n",
    " https://evil.example",
    "https://evil.example/ü",
    `https://long.example/${"a".repeat(2000)}`,
    "http://evil.example",
    "",
  ])("rejects the return link %j", async (return_link) => {
    const { id } = await make({ return_link: "wallet://back" })
    const { status } = await call("PUT", `/organizations/${id}/branding`, admin.token, {
      ...branding,
      return_link,
    })
    expect(status).toBe(400)
  })
})

describe("an API key of an organization's member", () => {
  it("is limited by its scopes and by the member's role", async () => {
    const owner = await service.user()
    const { id } = await make()
    await join(id, owner.id, "OrgOwner")
    const key = async (scopes: ReadonlyArray<string>) =>
      (await call("POST", "/api_keys", owner.token, { name: "org", scopes })).body.api_key as string
    const rename = async (apiKey: string) =>
      (
        await service.call("PATCH", `/organizations/${id}`, {
          headers: { "x-api-key": apiKey },
          body: { name: "By key" },
        })
      ).status
    const writer = await key(["organization:write"])
    expect(await rename(writer)).toBe(200)
    expect(await rename(await key(["organization:read"]))).toBe(403)
    expect(await rename(await key(["cart:show"]))).toBe(403)
    const other = await make()
    const elsewhere = await service.call("PATCH", `/organizations/${other.id}`, {
      headers: { "x-api-key": writer },
      body: { name: "x" },
    })
    expect(elsewhere.status).toBe(403)
    await join(id, owner.id, "OrgMember")
    expect(await rename(writer)).toBe(403)
  })

  it("gets no rights in other organizations when the member becomes an administrator", async () => {
    const owner = await service.user()
    const [own, other] = [await make(), await make()]
    await join(own.id, owner.id, "OrgOwner")
    const made = await call("POST", "/api_keys", owner.token, { name: "old key" })
    const promoted = await call("PATCH", `/users/${owner.id}`, admin.token, { role: "Admin" })
    expect(promoted.status).toBe(200)

    const headers = { "x-api-key": made.body.api_key }
    const rename = async (id: string) =>
      (await service.call("PATCH", `/organizations/${id}`, { headers, body: { name: "By key" } })).status
    expect(await rename(other.id)).toBe(403)
    expect(await rename(own.id)).toBe(200)
    const gift = {
      name: "a gift",
      code_type: "Discount",
      discount_as_percentage: 100,
      redemption_code: "GIFT",
    }
    expect((await service.call("POST", "/codes", { headers, body: gift })).status).toBe(403)
  })

  it("cannot create another API key, and is rejected after its deletion", async () => {
    const user = await service.user()
    const made = await call("POST", "/api_keys", user.token, { name: "parent" })
    const again = await service.call("POST", "/api_keys", {
      headers: { "X-API-KEY": made.body.api_key },
      body: { name: "child" },
    })
    expect(again.status).toBe(403)
    const list = await service.call("GET", "/api_keys", { headers: { "x-api-key": made.body.api_key } })
    expect(list.status).toBe(200)
    await call("DELETE", `/api_keys/${made.body.id}`, user.token)
    expect(
      (await service.call("GET", "/api_keys", { headers: { "x-api-key": made.body.api_key } })).status,
    ).toBe(401)
  })
})
