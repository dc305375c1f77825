import { describe, expect, it } from "vitest"
import { scopes } from "../../schema/accounts/scope.ts"
import { expectAnswer, expectContract } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"
import { grant } from "../transfers/transfer-service.ts"

/** Requests as the operator's tools and the generated clients of shops send them. */

const service = await serve()
const admin = await service.user({ role: "Admin" })
const owner = await service.user()
const id = "🚀🌊🔥"
await grant(service, owner, id)
const path = `/emoji_id/${encodeURIComponent(id)}`

/** A body as a generated client sends it: every member of the definition, null if it is not set. */
const allMembers = (members: ReadonlyArray<string>, given: object) => ({
  ...Object.fromEntries(members.map((name) => [name, null])),
  ...given,
})
const userMembers = ["current_password", "email", "first_name", "last_name", "password"]

describe("a generated client", () => {
  it("updates the current user with all members of the contract, null if they are not set", async () => {
    const { body, status } = await service.call("PATCH", "/account", {
      token: owner.token,
      body: allMembers(userMembers, { first_name: "Ann" }),
    })
    expect(status).toBe(200)
    expectAnswer("PATCH", "/account", body)
    expect(body.user.first_name).toBe("Ann")
  })

  it("updates another user as an administrator in the same way", async () => {
    const members = [...userMembers, "activation_source", "free_limit", "role"]
    const { body, status } = await service.call("PATCH", `/users/${owner.id}`, {
      token: admin.token,
      body: allMembers(members, { last_name: "Lee" }),
    })
    expect(status).toBe(200)
    expectContract("DisplayUser", body)
    expect(body.last_name).toBe("Lee")
  })

  it("learns from the error which member it has misspelled, and nothing is changed", async () => {
    const { body, status } = await service.call("PATCH", path, {
      token: owner.token,
      body: { inserts: [{ tag: "0x4001", data: "https://example.com" }] },
    })
    expect(status).toBe(400)
    expect(body.error).toBe(
      "body: unknown members: inserts. Expected only: insert, delete, bypass_single_restrictions, merkle_root, signature.",
    )
    expect((await service.call("GET", path)).body.result).toEqual([])
  })

  it("learns from the error by which members a list can be sorted", async () => {
    const { body, status } = await service.call("GET", "/transfers?sort=createdAt", { token: owner.token })
    expect([status, body.error]).toEqual([400, "query: sort: expected one of created_at, accepted_at, eid"])
  })

  it("lists with the paging parameters of the contract, empty if they are not set", async () => {
    const { body, status } = await service.call("GET", "/user_interests?dir=&limit=10&page=0&sort=", {
      token: owner.token,
    })
    expect(status).toBe(200)
    expectAnswer("GET", "/user_interests", body)
  })
})

describe("a shop that creates its API key with every scope that it may have", () => {
  it("gets the key, also for scopes that no operation needs", async () => {
    const { global_scopes } = (await service.call("GET", "/account", { token: admin.token })).body
    expect(scopes.filter((scope) => !global_scopes.includes(scope))).toEqual(["adminUser:bypass2fa"])
    const { body, status } = await service.call("POST", "/api_keys", {
      token: admin.token,
      body: { name: "shop", expires_at: null, scopes: global_scopes },
    })
    expect(status).toBe(200)
    expectContract("DisplayApiKey", body)
    const used = await service.call("GET", "/users?limit=1", { headers: { "X-Api-Key": body.api_key } })
    expect(used.status).toBe(200)
  })
})

describe("the operator's tool that watches the token contract", () => {
  it("records a mint, and wallets see it in the list of the owner and in the search", async () => {
    const { body, status } = await service.call("PUT", `${path}/minted`, {
      token: admin.token,
      body: { minted: true, token_id: null },
    })
    expect(status).toBe(200)
    expectContract("EmojiListItem", body)
    expect(body.minted).toBe(true)
    const listed = await service.call("GET", "/emoji_id/extended", { token: owner.token })
    expect(listed.body).toEqual([body])
    const loaded = await service.call("GET", "/account/load", { token: owner.token })
    expect(loaded.body.extended_list).toEqual([body])
    const found = await service.call("GET", `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`, {
      token: owner.token,
    })
    expect(found.body.result).toMatchObject({ minted: true })
    const metadata = await service.call("GET", `/nft_transfers/metadata/${body.token_id}`)
    expectContract("Metadata", metadata.body)
  })

  it("repeats the request after a lost answer without a second change", async () => {
    const repeat = () => service.call("PUT", `${path}/minted`, { token: admin.token, body: { minted: true } })
    expect((await repeat()).body).toEqual((await repeat()).body)
  })

  it("finds `generation` and `sidebar` constant", async () => {
    const { body } = await service.call("GET", "/account/load", { token: owner.token })
    expect([body.extended_list[0].generation, body.editions, "sidebar" in body]).toEqual([0, [0], false])
  })
})
