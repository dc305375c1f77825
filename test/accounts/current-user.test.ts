import { describe, expect, it } from "vitest"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"
import { grant } from "../transfers/transfer-service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })

describe("GET /account", () => {
  it("returns the caller with the scopes of their global role and of their role in each organization", async () => {
    const user = await service.user()
    const [organization] = await service.sql<
      [{ id: string }]
    >`insert into organization (name) values ('Acme') returning id`
    await service.sql`insert into organization_member values (${organization.id}, ${user.id}, 'OrgOwner')`
    const { body, status } = await service.call("GET", "/account", { token: user.token })
    expect(status).toBe(200)
    expectAnswer("GET", "/account", body)
    expect(body.user.email).toBe(user.email)
    expect(body.global_scopes).toContain("cart:show")
    expect(body.global_scopes).not.toContain("user:list")
    expect(body.organization_roles).toEqual({ [organization.id]: "OrgOwner" })
    expect(body.organization_scopes[organization.id]).toContain("organizationUser:admin")
  })

  it("lists the ids that are in pending transfers", async () => {
    const user = await service.user()
    await grant(service, user, "🔥🔥")
    await service.call("POST", "/transfers", {
      token: user.token,
      body: { eid: "🔥🔥", email: "friend@example.com" },
    })
    const { body } = await service.call("GET", "/account", { token: user.token })
    expect(body.pending_transfers).toEqual(["🔥🔥"])
  })
})

describe("GET /account/load", () => {
  it("returns the user's ids, incoming transfers, outgoing transfers and wallets", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    await grant(service, one, "🐙🌊🐙")
    await grant(service, one, "👍🔥")
    await service.sql`insert into record (canonical, hash, tag, data) values ('👍🔥', 'h', 1, '👍🏿🔥')`
    await service.sql`insert into wallet (user_id, eth_address, source) values (${one.id}, '0xabc', 'Mint')`
    await service.call("POST", "/transfers", {
      token: one.token,
      body: { eid: "🐙🌊🐙", email: other.email },
    })
    const { body, status } = await service.call("GET", "/account/load", { token: one.token })
    expect(status).toBe(200)
    expectAnswer("GET", "/account/load", body)
    expect(body.current_user.user.id).toBe(one.id)
    expect(body.extended_list.map((item: { display_format: string }) => item.display_format)).toEqual([
      "🐙🌊🐙",
      "👍🏿🔥",
    ])
    expect(body.extended_list[0].shape.shape).toBe("Bookends")
    expect(body.outgoing_transfers.data.map((t: { eid: string }) => t.eid)).toEqual(["🐙🌊🐙"])
    expect(body.outgoing_transfers.paging.total).toBe(1)
    expect(body.wallets).toEqual([{ eth_address: "0xabc", user_id: one.id }])
    const received = (await service.call("GET", "/account/load", { token: other.token })).body
    expectAnswer("GET", "/account/load", received)
    expect(received.incoming_transfers.map((t: { eid: string }) => t.eid)).toEqual(["🐙🌊🐙"])
  })

  it("returns another user's data and scopes to an administrator, but not to an ordinary user", async () => {
    const user = await service.user()
    const { body } = await service.call("GET", `/account/load?user_id=${user.id}`, { token: admin.token })
    expectAnswer("GET", "/account/load", body)
    expect(body.current_user.user.id).toBe(user.id)
    expect(body.current_user.global_scopes).not.toContain("user:list")
    const refused = await service.call("GET", `/account/load?user_id=${admin.id}`, { token: user.token })
    expect(refused.status).toBe(403)
    expect(refused.body.scope).toBe("adminUser:load")
    expect(
      (await service.call("GET", `/account/load?user_id=${user.id}`, { token: user.token })).status,
    ).toBe(200)
    const unknownUser = "/account/load?user_id=00000000-0000-4000-8000-000000000000"
    expect((await service.call("GET", unknownUser, { token: admin.token })).status).toBe(404)
  })

  it("returns an organization's ids to an `OrgController`, but not to an `OrgMember` or a stranger", async () => {
    const [controller, member, stranger] = await Promise.all([service.user(), service.user(), service.user()])
    const [{ id }] = await service.sql<
      [{ id: string }]
    >`insert into organization (name) values ('Keys Inc') returning id`
    await service.sql`insert into organization_member (organization_id, user_id, role)
                      values (${id}, ${controller.id}, 'OrgController'), (${id}, ${member.id}, 'OrgMember')`
    await service.sql`insert into pubkey (pubkey, user_id, organization_id) values (${"cd".repeat(32)}, ${member.id}, ${id})`
    await grant(service, member, "🦁🦁")
    await service.sql`update emoji_id set pubkey = ${"cd".repeat(32)} where canonical = '🦁🦁'`
    const load = (token: string) => service.call("GET", `/account/load?organization_id=${id}`, { token })
    const { body } = await load(controller.token)
    expect(body.extended_list.map((item: { canonical_format: string }) => item.canonical_format)).toEqual([
      "🦁🦁",
    ])
    expect(body.current_user.user.id).toBe(controller.id)
    expect((await load(member.token)).status).toBe(403)
    expect((await load(stranger.token)).body.scope).toBe("organizationEmoji:list")
  })
})
