import { describe, expect, it } from "vitest"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const make = async (code: string) =>
  (await service.call("POST", "/features", { token: admin.token, body: { code } })).body as {
    id: string
    code: string
  }

describe("features", () => {
  it("are listed for a user from their assignment until their removal", async () => {
    const user = await service.user()
    const feature = await make("beta-gallery")
    const path = `/users/${user.id}/features/${feature.id}`
    expect((await service.call("PUT", path, { token: admin.token })).body).toEqual({
      code: feature.code,
      id: feature.id,
    })
    expect((await service.call("PUT", path, { token: admin.token })).status).toBe(200)
    const { body } = await service.call("GET", "/user_features", { token: user.token })
    expectAnswer("GET", "/user_features", body)
    expect(body).toEqual([{ code: feature.code, id: feature.id }])
    expect((await service.call("GET", "/account", { token: user.token })).body.features).toEqual(body)
    expect((await service.call("GET", `/users/${user.id}/features`, { token: admin.token })).body).toEqual(
      body,
    )
    expect((await service.call("DELETE", path, { token: admin.token })).status).toBe(200)
    expect((await service.call("DELETE", path, { token: admin.token })).status).toBe(404)
    expect((await service.call("GET", "/user_features", { token: user.token })).body).toEqual([])
  })

  it("are rejected if their code is already in use or contains a space", async () => {
    await make("twice")
    const again = await service.call("POST", "/features", { token: admin.token, body: { code: "twice" } })
    expect(again.status).toBe(422)
    expect(again.body.fields.code[0].code).toBe("uniqueness")
    expect(
      (await service.call("POST", "/features", { token: admin.token, body: { code: "no spaces" } })).status,
    ).toBe(400)
  })

  it("are removed from their users and from GET /features when they are deleted", async () => {
    const user = await service.user()
    const feature = await make("short-lived")
    await service.call("PUT", `/users/${user.id}/features/${feature.id}`, { token: admin.token })
    expect((await service.call("DELETE", `/features/${feature.id}`, { token: admin.token })).body.code).toBe(
      "short-lived",
    )
    expect((await service.call("GET", "/user_features", { token: user.token })).body).toEqual([])
    const { body } = await service.call("GET", "/features", { token: admin.token })
    expect(body.map((f: { code: string }) => f.code)).not.toContain("short-lived")
  })

  it("can be listed and assigned only by administrators, and other users' features are private", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const feature = await make("closed")
    expect((await service.call("GET", "/features", { token: one.token })).body.scope).toBe("feature::read")
    expect(
      (await service.call("PUT", `/users/${one.id}/features/${feature.id}`, { token: one.token })).status,
    ).toBe(403)
    expect((await service.call("GET", `/users/${other.id}/features`, { token: one.token })).status).toBe(403)
    const unknownUser = `/users/00000000-0000-4000-8000-000000000000/features/${feature.id}`
    expect((await service.call("PUT", unknownUser, { token: admin.token })).status).toBe(404)
  })
})
