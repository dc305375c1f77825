import { describe, expect, it } from "vitest"
import { bypass2fa, reservedScopes, type Scope, scopes } from "../../schema/accounts/scope.ts"
import { isUseful, scopeTexts } from "../../schema/accounts/scope-text.ts"
import type { Operation } from "../../src/docs-page/document.ts"
import { openApi } from "../../src/http/openapi.ts"
import { routes } from "../../src/routes.ts"
import { scopesInCasesOf, scopesOf } from "../fixtures/access-table.ts"
import { serve } from "../fixtures/service.ts"

const needed = new Set(routes.flatMap((row) => [...scopesOf(row), ...scopesInCasesOf(row)]))
const reserved = Object.keys(reservedScopes) as ReadonlyArray<Scope>

describe("every scope of the API", () => {
  it("is needed by an operation, or is documented as reserved", () => {
    // bypass2fa is not needed by an operation. It makes an API key sensitive.
    const others = scopes.filter((scope) => !needed.has(scope) && scope !== bypass2fa)
    expect(others).toEqual(scopes.filter((scope) => reserved.includes(scope)))
  })

  it("is described to users by a sentence, which says that a reserved scope permits nothing", () => {
    expect(Object.keys(scopeTexts).toSorted()).toEqual([...scopes].toSorted())
    for (const text of Object.values(scopeTexts)) expect(text).toMatch(/^[A-Z].+\.$/)
    expect(scopes.filter((scope) => !isUseful(scope)).toSorted()).toEqual([...reserved].toSorted())
  })

  it("is documented in /openapi.json: reserved scopes in the description of Scope, the others at their operation", () => {
    const document = openApi(routes, [])
    const { description } = document.components.schemas["Scope"] as { description: string }
    for (const scope of reserved) expect(description).toContain(scope)
    const { patch } = document.paths["/users/{id}"] as Record<string, Operation & { description: string }>
    expect(patch!.description).toContain(
      "The scope adminUser:roleUpdate is required for `role`. The scope user:activate is required for `active` or `activation_source`.",
    )
  })
})

describe("an API key", () => {
  it("can be created with all scopes of the creator, as existing clients request them, also with reserved ones", async () => {
    const service = await serve()
    for (const role of ["Admin", "User"] as const) {
      const { token } = await service.user({ role })
      const { global_scopes } = (await service.call("GET", "/account", { token })).body
      const { body, status } = await service.call("POST", "/api_keys", {
        token,
        body: { name: "all", scopes: global_scopes },
      })
      expect([role, status]).toEqual([role, 200])
      expect(body.scopes.toSorted()).toEqual(global_scopes.toSorted())
      expect(body.scopes).toContain("edition:read" satisfies Scope)
    }
  })

  it("needs the scope of a case only in this case", async () => {
    const service = await serve()
    const admin = await service.user({ role: "Admin" })
    const person = await service.user()
    const key = async (...granted: ReadonlyArray<Scope>) =>
      (
        await service.call("POST", "/api_keys", {
          token: admin.token,
          body: { name: "k", scopes: granted, sensitive: true },
        })
      ).body.api_key as string
    const update = async (apiKey: string, body: unknown) =>
      (await service.call("PATCH", `/users/${person.id}`, { headers: { "x-api-key": apiKey }, body })).status
    const plain = await key("user:write")
    expect(await update(plain, { first_name: "Ann" })).toBe(200)
    expect(await update(plain, { role: "Bot" })).toBe(403)
    expect(await update(plain, { active: false })).toBe(403)
    expect(await update(await key("user:write", "adminUser:roleUpdate"), { role: "Bot" })).toBe(200)
    expect(await update(await key("user:write", "user:activate"), { active: false })).toBe(200)
  })
})
