import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { blake2b } from "@noble/hashes/blake2.js"
import { beforeAll, describe, expect, it } from "vitest"
import { parseEmojiId } from "../../../schema/directory/emoji-id.ts"
import { findOffences } from "../../faults/ownership-oracle.ts"
import { serve, type TestService, type TestUser } from "../../fixtures/service.ts"
import { claimOf, ownerOf } from "../../transfers/transfer-service.ts"
import { untilAnswered } from "../shopper.ts"

let service: TestService
let admin: TestUser

beforeAll(async () => {
  service = await serve(
    { SWEEP_INTERVAL_MS: "60000", REQUEST_DEADLINE_SECONDS: "60" },
    { peersPossible: true },
  )
  admin = await service.user({ role: "Admin" })
})

const makeSigner = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
  return {
    pubkey,
    sign: (alternateId: string, nonce: string) => ({
      nonce,
      pubkey,
      signature: sign(null, blake2b(Buffer.from(alternateId + nonce), { dkLen: 32 }), privateKey).toString(
        "hex",
      ),
    }),
  }
}
const signer = makeSigner()

const makeCode = async (facts: Record<string, unknown> = {}) => {
  const body = { name: "Welcome", code_type: "RandomYat", ...facts }
  const { body: code } = await service.call("POST", "/codes", { token: admin.token, body })
  const key = `${signer.pubkey.toUpperCase()}?kind=ed25519`
  const added = await service.call("POST", `/codes/${code.id}/pubkeys/${key}`, {
    token: admin.token,
    rawBody: "null",
  })
  expect([added.status, added.body]).toEqual([200, signer.pubkey])
  return code.id as string
}
const makeDevice = async (
  alternateId = `device-${createHash("sha1").update(String(Math.random())).digest("hex")}`,
) => {
  const user = await service.user()
  await service.sql`update app_user set alternate_id = ${alternateId} where id = ${user.id}`
  return { ...user, alternateId }
}
const activate = (codeId: string, user: TestUser, body: unknown, headers: Record<string, string> = {}) =>
  service.call("POST", `/codes/${codeId}/random_yat`, { token: user.token, body, headers })
const faultOf = (answer: {
  status: number
  body: { fields?: Record<string, ReadonlyArray<{ code: string }>> }
}) => [
  answer.status,
  ...Object.entries(answer.body.fields ?? {}).map(([name, [issue]]) => `${name}:${issue?.code}`),
]

describe("a code that gives a random id", () => {
  it("puts an available id into the cart at no charge, and the checkout grants this id", async () => {
    const codeId = await makeCode({ max_uses: 5, pattern: { min_length: 6, max_length: 6 } })
    const user = await makeDevice()
    const cart = await activate(codeId, user, signer.sign(user.alternateId, "n1"))
    expect(cart.status).toBe(200)
    expect(cart.body).toMatchObject({ status: "PendingPayment", total_in_cents: 0, user_id: user.id })
    const [item, discount] = cart.body.order_items
    expect(item).toMatchObject({ item_type: "EmojiId", emoji_id: expect.any(String) })
    expect(discount).toMatchObject({
      item_type: "Discount",
      code_id: codeId,
      parent_id: item.id,
      unit_price_in_cents: -item.unit_price_in_cents,
    })
    const id = parseEmojiId(item.emoji_id)
    const canonical = id._tag === "EmojiId" ? id.canonical : ""
    expect(id._tag === "EmojiId" && id.length).toBe(6)
    expect(await claimOf(service, canonical)).toMatchObject({ kind: "order", holder: cart.body.id })
    const seen = await service.call("GET", "/cart", { token: user.token })
    expect(seen.body.id).toBe(cart.body.id)

    const paid = await service.call("POST", "/cart/checkout", { token: user.token, body: { method: "Free" } })
    expect(paid.body).toMatchObject({ status: "Paid", id: cart.body.id })
    expect(paid.body.user.remaining_free_emoji).toBe(1)
    expect(await ownerOf(service, canonical)).toBe(user.id)
    const codes = await service.call("GET", "/codes", { token: admin.token })
    expect(codes.body.data.find((code: { id: string }) => code.id === codeId)).toMatchObject({
      total_uses: 1,
      available: 4,
    })
  })

  it("of an organization creates an order of the organization", async () => {
    const made = await service.call("POST", "/organizations", {
      token: admin.token,
      body: { name: "Shop", partner_path: "code-shop" },
    })
    await service.call("PUT", `/organizations/${made.body.id}/code_budget`, {
      token: admin.token,
      body: { budget_in_cents: 1_000_000 },
    })
    const codeId = await makeCode({ organization_id: made.body.id })
    const user = await makeDevice()
    const cart = await activate(codeId, user, signer.sign(user.alternateId, "n1"))
    expect(cart.body).toMatchObject({ status: "PendingPayment", organization_id: made.body.id })
    const paid = await service.call("POST", "/cart/checkout", { token: user.token, body: { method: "Free" } })
    expect(paid.body).toMatchObject({ status: "Paid", organization_id: made.body.id })
  })

  it("that is redeemed by four concurrent requests with the same nonce returns the same cart", async () => {
    const codeId = await makeCode({ max_uses: 5 })
    const user = await makeDevice()
    const body = signer.sign(user.alternateId, "n1")
    const answers = await Promise.all(Array.from({ length: 4 }, () => activate(codeId, user, body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
  })

  it("requires a signature by a key of the code over the user's `alternate_id` and an unused nonce", async () => {
    const codeId = await makeCode()
    const user = await makeDevice("abc")
    const good = signer.sign("abc", "1")
    const other = makeSigner()
    expect(faultOf(await activate(codeId, user, other.sign("abc", "1")))).toEqual([422, "pubkey:unknown"])
    expect(faultOf(await activate(codeId, user, { ...good, nonce: "2" }))).toEqual([422, "signature:invalid"])
    expect(faultOf(await activate(codeId, user, signer.sign("abd", "1")))).toEqual([422, "signature:invalid"])
    expect(faultOf(await activate(codeId, user, { ...good, signature: "zz" }))).toEqual([
      422,
      "signature:invalid",
    ])
    expect((await activate(codeId, user, { nonce: "1" })).status).toBe(400)
    const plain = await service.user()
    expect(faultOf(await activate(codeId, plain, good))).toEqual([422, "signature:eligibility"])

    const first = await activate(codeId, user, good)
    expect(first.status).toBe(200)
    // If the response was lost and the request is repeated, the same cart is returned.
    expect((await activate(codeId, user, good)).body.id).toBe(first.body.id)
    await service.call("DELETE", "/cart", { token: user.token })
    expect(faultOf(await activate(codeId, user, good))).toEqual([422, "nonce:uniqueness"])
    // The signed text of alternate_id "ab" and nonce "c1" is the same as that of "abc" and "1".
    const namesake = await makeDevice("ab")
    expect(faultOf(await activate(codeId, namesake, { ...good, nonce: "c1" }))).toEqual([
      422,
      "nonce:uniqueness",
    ])
  })

  it("with a limit of 30 uses accepts exactly 30 of 150 concurrent requests", async () => {
    const codeId = await makeCode({ max_uses: 30 })
    const devices = await Promise.all(Array.from({ length: 150 }, () => makeDevice()))
    const counts: Record<number, number> = {}
    await Promise.all(
      devices.map(async (device) => {
        const body = signer.sign(device.alternateId, "n")
        const { status } = await untilAnswered(({ headers }) => activate(codeId, device, body, headers))
        counts[status] = (counts[status] ?? 0) + 1
      }),
    )
    expect(counts).toEqual({ 200: 30, 422: 120 })
    const [row] =
      await service.sql`select uses, (select sum(count)::int from code_use where code_id = ${codeId}) as told
                                      from code where id = ${codeId}`
    expect(row).toEqual({ uses: 30, told: 30 })
    expect(await findOffences(service.sql)).toEqual([])
  })

  it("can be used again after the order is cancelled, and limits the uses in total and per user", async () => {
    const codeId = await makeCode({ max_uses: 1, max_emojis_per_user: 1 })
    const user = await makeDevice()
    expect((await activate(codeId, user, signer.sign(user.alternateId, "a"))).status).toBe(200)
    expect(faultOf(await activate(codeId, user, signer.sign(user.alternateId, "b")))).toEqual([
      422,
      "code:used_up",
    ])
    await service.call("DELETE", "/cart", { token: user.token })
    expect((await activate(codeId, user, signer.sign(user.alternateId, "c"))).status).toBe(200)
    await service.call("POST", "/cart/checkout", { token: user.token, body: { method: "Free" } })
    expect(faultOf(await activate(codeId, user, signer.sign(user.alternateId, "d")))).toEqual([
      422,
      "code:used_up",
    ])
    const wide = await makeCode({ max_uses: 9, max_emojis_per_user: 1 })
    expect((await activate(wide, user, signer.sign(user.alternateId, "e"))).status).toBe(200)
    await service.call("POST", "/cart/checkout", { token: user.token, body: { method: "Free" } })
    expect(faultOf(await activate(wide, user, signer.sign(user.alternateId, "f")))).toEqual([
      422,
      "code:used_up_by_user",
    ])
  })

  it("is rejected outside its dates, after its deletion, and for a cart that is not empty", async () => {
    const user = await makeDevice()
    let nonce = 0
    const tryCode = (codeId: string) => activate(codeId, user, signer.sign(user.alternateId, `t${nonce++}`))
    const past = new Date(Date.now() - 60_000).toISOString()
    const future = new Date(Date.now() + 3_600_000).toISOString()
    expect(faultOf(await tryCode(await makeCode({ end_date: past })))).toEqual([422, "code:ended"])
    expect(faultOf(await tryCode(await makeCode({ start_date: future })))).toEqual([422, "code:not_started"])
    const deleted = await makeCode()
    await service.call("DELETE", `/codes/${deleted}`, { token: admin.token })
    expect((await tryCode(deleted)).status).toBe(404)
    expect((await tryCode("00000000-0000-4000-8000-000000000000")).status).toBe(404)
    const discount = await makeCode({ code_type: "Discount", discount_in_cents: 100, activator: "SecretKey" })
    expect(faultOf(await tryCode(discount))).toEqual([422, "code:wrong_type"])
    await service.call("POST", "/cart", {
      token: user.token,
      body: { items: [{ emoji_id: "🍕🍔🍟🌭🍿🥓" }] },
    })
    expect((await tryCode(await makeCode())).status).toBe(422)
  })

  it("and has the activator `RedemptionCode` is redeemed with its `redemption_code`, not its id, and needs no signature", async () => {
    const codeId = await makeCode({ activator: "RedemptionCode", redemption_code: "WELCOME-7" })
    const user = await service.user()
    const body = { nonce: "", pubkey: "", signature: "" }
    expect((await activate(codeId, user, body)).status).toBe(404)
    const cart = await activate("welcome-7", user, body)
    expect(cart.body).toMatchObject({ status: "PendingPayment", total_in_cents: 0 })
  })
})

describe("the keys of a code", () => {
  it("can be added and removed only with the scope `code:write`", async () => {
    const codeId = await makeCode()
    const user = await makeDevice()
    const path = `/codes/${codeId}/pubkeys/${signer.pubkey}`
    expect((await service.call("POST", path, { token: user.token })).status).toBe(403)
    expect((await service.call("DELETE", path, { token: user.token })).status).toBe(403)
    expect(faultOf(await service.call("POST", `${path}?kind=ed25519`, { token: admin.token }))).toEqual([
      422,
      "pubkey:uniqueness",
    ])
    expect(
      faultOf(await service.call("POST", `/codes/${codeId}/pubkeys/ff`, { token: admin.token })),
    ).toEqual([422, "pubkey:invalid"])
    expect((await service.call("DELETE", path, { token: admin.token })).body).toBe(signer.pubkey)
    expect((await service.call("DELETE", path, { token: admin.token })).status).toBe(404)
    expect(faultOf(await activate(codeId, user, signer.sign(user.alternateId, "n")))).toEqual([
      422,
      "pubkey:unknown",
    ])
    const nowhere = `/codes/00000000-0000-4000-8000-000000000000/pubkeys/${signer.pubkey}`
    expect((await service.call("POST", nowhere, { token: admin.token })).status).toBe(404)
  })
})
