import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { describe, expect, it } from "vitest"
import { ethAddressOf } from "../../src/keys/eth-address.ts"
import { signEthMessage } from "../../src/keys/eth-message.ts"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"
import { roomy, waiting } from "../fixtures/waiting.ts"
import { freshId } from "../orders/shopper.ts"

const service = await serve(roomy)
const admin = await service.user({ role: "Admin" })

/** These keys are from the test vectors of RFC 8032. */
const ownKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
const thirdKey = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
const fourthKey = "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e"
const otherKey = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"

describe("the pubkey API", () => {
  it("generates a key pair and stores the private key encrypted", async () => {
    const user = await service.user()
    const { body, status } = await service.call("POST", "/pubkeys", { token: user.token, rawBody: "null" })
    expect(status).toBe(200)
    expect(body).toMatch(/^[0-9a-f]{64}$/)
    const [row] = await service.sql`select sealed_key from pubkey where pubkey = ${body}`
    expect(row!["sealed_key"]).toMatch(/^v1\.test\./)
  })

  it("lists the pubkeys of a user, oldest first", async () => {
    const user = await service.user()
    const first = (await service.call("POST", "/pubkeys", { token: user.token })).body
    const second = (await service.call("POST", "/pubkeys", { token: user.token })).body
    const { body } = await service.call("GET", "/pubkeys", { token: user.token })
    expectAnswer("GET", "/pubkeys", body)
    expect(body).toEqual([first, second])
    expect((await service.call("GET", `/users/${user.id}/pubkeys`, { token: user.token })).body).toEqual(body)
    expect((await service.call("GET", `/users/${user.id}/pubkeys`, { token: admin.token })).body).toEqual(
      body,
    )
  })

  it("adds a pubkey only once, whatever its letter case is, and then answers 422 uniqueness to every user", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const added = await service.call("POST", `/pubkeys/${ownKey.toUpperCase()}`, { token: one.token })
    expect(added.body).toBe(ownKey)
    for (const { token } of [one, other]) {
      const refused = await service.call("POST", `/pubkeys/${ownKey}`, { token })
      expect(refused.status).toBe(422)
      expect(refused.body.fields.pubkey[0].code).toBe("uniqueness")
    }
    expect((await service.call("GET", "/pubkeys", { token: one.token })).body).toEqual([ownKey])
  })

  it("answers a repeated request with the same Idempotency-Key like the first, and one with another key with 422", async () => {
    const user = await service.user()
    const pubkey = Buffer.from(ed25519.keygen().publicKey).toString("hex")
    const ask = (key: string) =>
      service.call("POST", `/pubkeys/${pubkey}`, { token: user.token, headers: { "idempotency-key": key } })
    expect((await ask("first")).body).toBe(pubkey)
    expect((await ask("first")).body).toBe(pubkey)
    expect((await ask("second")).body.fields.pubkey[0].code).toBe("uniqueness")
  })

  it("moves a pubkey to the user who signs with its private key, unless the pubkey owns an id", async () => {
    const [thief, holder] = await Promise.all([service.user(), service.user()])
    const { publicKey, secretKey } = ed25519.keygen()
    const pubkey = Buffer.from(publicKey).toString("hex")
    const signedBy = (userId: string) => {
      const message = `Emoji Id Directory: this key belongs to the user ${userId}`
      return Buffer.from(ed25519.sign(Buffer.from(message), secretKey)).toString("hex")
    }
    const ask = (token: string, signature: string) =>
      service.call("POST", `/pubkeys/${pubkey}?signature=${signature}`, { token })
    const keysOf = async (token: string) => (await service.call("GET", "/account", { token })).body.pubkeys
    await service.call("POST", `/pubkeys/${pubkey}`, { token: thief.token })
    expect(await keysOf(thief.token)).toEqual([pubkey])

    expect((await service.call("POST", `/pubkeys/${pubkey}`, { token: holder.token })).status).toBe(422)
    const stolen = await ask(holder.token, signedBy(thief.id))
    expect(stolen.body.fields.signature[0].code).toBe("invalid")
    expect((await ask(holder.token, signedBy(holder.id))).body).toBe(pubkey)
    expect(await keysOf(thief.token)).toEqual([])
    expect(await keysOf(holder.token)).toEqual([pubkey])
    expect((await ask(thief.token, signedBy(holder.id))).status).toBe(422)

    await service.call("POST", "/emoji_id", {
      token: admin.token,
      body: { emoji_id: freshId(), user_id: holder.id, pubkey },
    })
    expect((await ask(thief.token, signedBy(thief.id))).body.fields.pubkey[0].code).toBe("uniqueness")
  })

  it("waits while a pubkey is being added, then returns 422 to all users, also to the user who added it", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const add = (token: string) => service.call("POST", `/pubkeys/${fourthKey}`, { token })
    const answers = await service.sql.begin(async (q) => {
      await q`insert into pubkey (pubkey, user_id) values (${fourthKey}, ${one.id})`
      const requests = [add(one.token), add(other.token)]
      await expect.poll(() => waiting(service)).toHaveLength(2)
      return { requests }
    })
    const statuses = (await Promise.all(answers.requests)).map(({ status }) => status)
    expect(statuses).toEqual([422, 422])
    expect((await service.call("GET", "/pubkeys", { token: one.token })).body).toEqual([fourthKey])
  })

  it("rejects a pubkey that is too short or has small order", async () => {
    const user = await service.user()
    expect((await service.call("POST", "/pubkeys/abc", { token: user.token })).status).toBe(400)
    const small = `01${"00".repeat(31)}`
    expect((await service.call("POST", `/pubkeys/${small}`, { token: user.token })).status).toBe(400)
  })

  it("adds a pubkey for another user only if the caller has the scope `user:write`", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const path = `/users/${other.id}/pubkeys/${otherKey}`
    expect((await service.call("POST", path, { token: one.token })).status).toBe(403)
    expect((await service.call("GET", `/users/${other.id}/pubkeys`, { token: one.token })).status).toBe(403)
    expect((await service.call("POST", path, { token: admin.token })).body).toBe(otherKey)
    const absent = `/users/00000000-0000-4000-8000-000000000000/pubkeys/${thirdKey}`
    expect((await service.call("POST", absent, { token: admin.token })).status).toBe(404)
  })

  it("rejects a pubkey that an admin adds for a user with a higher role", async () => {
    const boss = await service.user({ role: "Super" })
    const path = `/users/${boss.id}/pubkeys/${thirdKey}`
    expect((await service.call("POST", path, { token: admin.token })).status).toBe(403)
    expect((await service.call("GET", "/pubkeys", { token: boss.token })).body).toEqual([])
    expect((await service.call("POST", path, { token: boss.token })).body).toBe(thirdKey)
  })
})

describe("the wallet API", () => {
  const wallet = secp256k1.keygen()
  const address = ethAddressOf(wallet.publicKey)
  const challengeOf = async (token: string, source = "Mint") =>
    (await service.call("GET", `/wallets/challenge?source=${source}`, { token })).body.message as string
  const signed = (message: string) => signEthMessage(Buffer.from(message), wallet.secretKey)

  it("links the address that signed the challenge, and lists it once after a repeated request", async () => {
    const user = await service.user()
    const body = { signature: signed(await challengeOf(user.token)), source: "Mint" }
    const linked = await service.call("POST", "/wallets", { token: user.token, body })
    expect(linked.body).toEqual({ eth_address: address, user_id: user.id })
    expect((await service.call("POST", "/wallets", { token: user.token, body })).status).toBe(200)
    const { body: list } = await service.call("GET", "/wallets", { token: user.token })
    expectAnswer("GET", "/wallets", list)
    expect(list).toEqual([linked.body])
  })

  it("does not link an address if the signature is for another user or source", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const signature = signed(await challengeOf(one.token))
    for (const attempt of [
      { token: other.token, body: { signature, source: "Mint" } },
      { token: one.token, body: { signature, source: "Dashboard" } },
    ]) {
      await service.call("POST", "/wallets", attempt)
      const { body } = await service.call("GET", "/wallets", { token: attempt.token })
      expect(body.map((linked: { eth_address: string }) => linked.eth_address)).not.toContain(address)
    }
  })

  it("rejects an invalid signature and an unknown or missing source", async () => {
    const user = await service.user()
    const refused = await service.call("POST", "/wallets", {
      token: user.token,
      body: { signature: "0x12", source: "Mint" },
    })
    expect(refused.status).toBe(422)
    expect(refused.body.fields.signature[0].code).toBe("invalid")
    const unknown = await service.call("POST", "/wallets", {
      token: user.token,
      body: { signature: "0x", source: "Moon" },
    })
    expect(unknown.status).toBe(400)
    expect((await service.call("GET", "/wallets/challenge", { token: user.token })).status).toBe(400)
  })
})

describe("API keys", () => {
  const create = (token: string, body: unknown, query = "") =>
    service.call("POST", `/api_keys${query}`, { token, body })

  it("are shown once, stored as a hash and masked in lists", async () => {
    const user = await service.user()
    const made = await create(user.token, { name: "deploy", scopes: ["cart:show"], expires_at: null })
    expect(made.status).toBe(200)
    expectAnswer("POST", "/api_keys", made.body)
    expect(made.body.api_key).toMatch(/^svc_[0-9a-z]{20}_[0-9a-z]{52}$/)
    expect(made.body.scopes).toEqual(["cart:show"])
    const { body } = await service.call("GET", "/api_keys", { token: user.token })
    expectAnswer("GET", "/api_keys", body)
    expect(body).toHaveLength(1)
    expect(body[0].api_key).toBe(`svc_${made.body.id}_…`)
    const [row] = await service.sql`select secret_hash from api_key where id = ${made.body.id}`
    expect(made.body.api_key).not.toContain(row!["secret_hash"])
  })

  it("have all scopes of their creator by default, and cannot have other scopes", async () => {
    const user = await service.user()
    const all = await create(user.token, { name: "all" })
    expect(all.body.scopes).toContain("cart:update")
    expect(all.body.scopes).not.toContain("user:list")
    const wider = await create(user.token, { name: "wide", scopes: ["cart:show", "user:list"] })
    expect(wider.status).toBe(403)
    expect(wider.body.scope).toBe("user:list")
    expect((await create(user.token, { name: "odd", scopes: ["cart:fly"] })).status).toBe(400)
  })

  it("can have a scope that the creator has in an organization", async () => {
    const user = await service.user()
    const [organization] = await service.sql<
      [{ id: string }]
    >`insert into organization (name) values ('Acme') returning id`
    await service.sql`insert into organization_member values (${organization.id}, ${user.id}, 'OrgController')`
    const made = await create(user.token, { name: "org", scopes: ["organizationEmoji:list"] })
    expect(made.body.scopes).toEqual(["organizationEmoji:list"])
  })

  it("require a name, and cannot have an expiry in the past", async () => {
    const user = await service.user()
    const past = await create(user.token, { name: "late", expires_at: "2020-01-01T00:00:00Z" })
    expect(past.status).toBe(422)
    expect(past.body.fields.expires_at[0].code).toBe("past")
    const made = await create(user.token, { name: "year", expires_at: "2099-01-01T00:00:00+02:00" })
    expect(made.body.expires_at).toBe("2098-12-31T22:00:00.000Z")
    expect((await create(user.token, { name: "   " })).status).toBe(400)
    expect((await create(user.token, { name: "x", expires_at: "soon" })).status).toBe(400)
  })

  it("can be deleted by their owner with the id or the masked key, but other users get 404", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    const first = (await create(one.token, { name: "a" })).body
    const second = (await create(one.token, { name: "b" })).body
    expect((await service.call("DELETE", `/api_keys/${first.id}`, { token: other.token })).status).toBe(404)
    const gone = await service.call("DELETE", `/api_keys/${first.id}`, { token: one.token })
    expectAnswer("DELETE", "/api_keys/{id}", gone.body)
    const masked = encodeURIComponent(`svc_${second.id}_…`)
    expect((await service.call("DELETE", `/api_keys/${masked}`, { token: one.token })).status).toBe(200)
    expect((await service.call("GET", "/api_keys", { token: one.token })).body).toEqual([])
  })

  it("can be created by an admin for another user, but only with scopes that the other user has", async () => {
    const [user, boss] = await Promise.all([service.user(), service.user({ role: "Super" })])
    const made = await create(admin.token, { name: "for you" }, `?user_id=${user.id}`)
    expect(made.body.scopes).not.toContain("user:list")
    const { body } = await service.call("GET", `/api_keys?user_id=${user.id}`, { token: admin.token })
    expect(body.map((key: { id: string }) => key.id)).toEqual([made.body.id])
    expect((await create(user.token, { name: "x" }, `?user_id=${admin.id}`)).status).toBe(403)
    expect((await service.call("GET", `/api_keys?user_id=${admin.id}`, { token: user.token })).status).toBe(
      403,
    )
    expect((await create(admin.token, { name: "x" }, `?user_id=${boss.id}`)).status).toBe(403)
    const unknownUser = await create(
      admin.token,
      { name: "x" },
      "?user_id=00000000-0000-4000-8000-000000000000",
    )
    expect(unknownUser.status).toBe(404)
  })

  it("can be deleted by admins, unless their user has a higher role", async () => {
    const [user, boss] = await Promise.all([service.user(), service.user({ role: "Super" })])
    const [his, theirs] = [await create(user.token, { name: "a" }), await create(boss.token, { name: "b" })]
    const remove = async (id: string, token: string) =>
      (await service.call("DELETE", `/api_keys/${id}`, { token })).status
    expect(await remove(his.body.id, admin.token)).toBe(200)
    expect(await remove(theirs.body.id, admin.token)).toBe(404)
    expect(await remove(theirs.body.id, boss.token)).toBe(200)
  })
})
