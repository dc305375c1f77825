import { generateKeyPairSync, randomUUID, sign } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { blake2b } from "@noble/hashes/blake2.js"
import { beforeAll, describe, expect, it } from "vitest"
import { readRistrettoKey } from "../../src/keys/ristretto-signatures.ts"
import { type Answer, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { makeWalletUser } from "../partners/partner.ts"
import { forge, groupOrder, makeRistrettoSigner, writeScalar } from "./ristretto-signer.ts"

let service: TestService
let admin: TestUser

beforeAll(async () => {
  service = await serve()
  admin = await service.user({ role: "Admin" })
})

const asAdmin = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.call(method, path, { token: admin.token, headers, ...(body === undefined ? {} : { body }) })
/** Existing clients send a Content-Type and the body `null` with requests that need no body. */
const withoutBody = (method: string, path: string) =>
  service.call(method, path, {
    token: admin.token,
    rawBody: "null",
    headers: { "Content-Type": "application/json" },
  })
const makeCode = async (facts: Record<string, unknown> = {}) => {
  const made = await asAdmin("POST", "/codes", { name: "Welcome", code_type: "RandomYat", ...facts })
  expect(made.status).toBe(200)
  return made.body.id as string
}
const makeDevice = async () => {
  const alternateId = `device-${randomUUID()}`
  return { ...(await makeWalletUser(service, alternateId)), alternateId }
}
const activate = (codeId: string, token: string, body: unknown) =>
  service.call("POST", `/codes/${codeId}/random_yat`, { token, body })
const faultOf = ({ body, status }: Answer) => [
  status,
  ...Object.entries(body.fields ?? {}).map(
    ([name, issues]) => `${name}:${(issues as ReadonlyArray<{ code: string }>)[0]?.code}`,
  ),
]
const listedKeys = async (codeId: string) => {
  const { body } = await asAdmin("GET", "/codes?limit=100")
  return body.data.find(({ id }: { id: string }) => id === codeId).pubkeys
}

/** An Ed25519 key pair. With `isBoth`, the public key is also a valid Ristretto255 key. */
const makeEd25519 = ({ isBoth = false } = {}) => {
  for (;;) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
    if (isBoth && readRistrettoKey(pubkey) === undefined) continue
    const signNonce = (alternateId: string, nonce: string) => ({
      nonce,
      pubkey,
      signature: sign(null, blake2b(Buffer.from(alternateId + nonce), { dkLen: 32 }), privateKey).toString(
        "hex",
      ),
    })
    return { pubkey, sign: signNonce }
  }
}
/** A Ristretto255 signer whose public key is also a valid Ed25519 key. */
const makeAmbiguousRistretto = () => {
  for (;;) {
    const signer = makeRistrettoSigner()
    try {
      const point = ed25519.Point.fromHex(signer.pubkey, false)
      if (!point.isSmallOrder() && point.isTorsionFree()) return signer
    } catch {}
  }
}

describe("a client that signs with Ristretto255 Schnorr", () => {
  it("lists its key without a body and without `kind`, activates the code and gets the id for free", async () => {
    const signer = makeRistrettoSigner()
    const codeId = await makeCode({ discount_as_percentage: 100, max_uses: 5 })
    const listed = await withoutBody("POST", `/codes/${codeId}/pubkeys/${signer.pubkey}`)
    expect([listed.status, listed.body]).toEqual([200, signer.pubkey])
    const device = await makeDevice()
    const cart = await activate(codeId, device.token, signer.sign(device.alternateId))
    expect(cart.body).toMatchObject({ status: "PendingPayment", total_in_cents: 0, user_id: device.id })
    const paid = await service.call("POST", "/cart/checkout", {
      token: device.token,
      body: { method: "Free" },
    })
    expect(paid.body).toMatchObject({ status: "Paid", id: cart.body.id })
  })

  it("can send all values in upper case hex, and tracking_data", async () => {
    const signer = makeRistrettoSigner()
    const codeId = await makeCode()
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${signer.pubkey.toUpperCase()}`)
    const device = await makeDevice()
    const { nonce, pubkey, signature } = signer.sign(device.alternateId)
    const body = {
      nonce: nonce.toUpperCase(),
      pubkey: pubkey.toUpperCase(),
      signature: signature.toUpperCase(),
      tracking_data: { campaign: "spring" },
    }
    expect((await activate(codeId, device.token, body)).status).toBe(200)
  })

  it("gets 422 for a signature of another alternate_id, and for values that are not canonical", async () => {
    const signer = makeRistrettoSigner()
    const codeId = await makeCode()
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${signer.pubkey}`)
    const device = await makeDevice()
    const good = signer.sign(device.alternateId)
    const scalar = BigInt(`0x${Buffer.from(good.signature, "hex").reverse().toString("hex")}`)
    const refused = [
      signer.sign("another device"),
      { ...good, signature: writeScalar(scalar + groupOrder) },
      { ...good, nonce: "ff".repeat(32) },
      { ...good, nonce: "n1" },
      { ...good, signature: `${good.signature}${good.signature}` },
    ]
    for (const body of refused)
      expect(faultOf(await activate(codeId, device.token, body))).toEqual([422, "signature:invalid"])
    const other = makeRistrettoSigner().sign(device.alternateId)
    expect(faultOf(await activate(codeId, device.token, other))).toEqual([422, "pubkey:unknown"])
    expect((await activate(codeId, device.token, good)).status).toBe(200)
  })

  it("gets the same cart again for a new signature, and 422 after the id was granted", async () => {
    const signer = makeRistrettoSigner()
    const codeId = await makeCode()
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${signer.pubkey}`)
    const device = await makeDevice()
    const activateAgain = () => activate(codeId, device.token, signer.sign(device.alternateId))
    const first = await activateAgain()
    expect((await activateAgain()).body.id).toBe(first.body.id)
    await service.call("DELETE", "/cart", { token: device.token })
    const second = await activateAgain()
    expect(second.status).toBe(200)
    expect(second.body.id).not.toBe(first.body.id)
    await service.call("POST", "/cart/checkout", { token: device.token, body: { method: "Free" } })
    expect(faultOf(await activateAgain())).toEqual([422, "nonce:uniqueness"])
  })

  it("can activate the code again after the order was returned to the cart and emptied", async () => {
    const signer = makeRistrettoSigner()
    const codeId = await makeCode()
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${signer.pubkey}`)
    const device = await makeDevice()
    const activateAgain = () => activate(codeId, device.token, signer.sign(device.alternateId))
    const { body: first } = await activateAgain()
    await service.call("POST", "/cart/convert_to_draft", { token: device.token })
    expect((await activateAgain()).status).toBe(422)
    await service.call("DELETE", "/cart", { token: device.token })
    const { body: second } = await activateAgain()
    expect([second.id, second.status, second.total_in_cents]).toEqual([first.id, "PendingPayment", 0])
    const pay = { token: device.token, body: { method: "Free" } }
    expect((await service.call("POST", "/cart/checkout", pay)).body.status).toBe("Paid")
  })
})

describe("a Ristretto255 signature that was made without the private key", () => {
  it("is accepted, because the scheme of existing clients cannot tell it apart", async () => {
    const { pubkey } = makeRistrettoSigner()
    const codeId = await makeCode()
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${pubkey}`)
    const device = await makeDevice()
    expect((await activate(codeId, device.token, forge(pubkey, device.alternateId))).status).toBe(200)
  })

  it("gives each alternate_id one id, only to its own user, and never more than max_uses", async () => {
    const { pubkey } = makeRistrettoSigner()
    const codeId = await makeCode({ max_uses: 2 })
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${pubkey}`)
    const [first, second, third] = [await makeDevice(), await makeDevice(), await makeDevice()]
    const take = (device: typeof first, alternateId = device.alternateId) =>
      activate(codeId, device.token, forge(pubkey, alternateId))
    expect(faultOf(await take(first, second.alternateId))).toEqual([422, "signature:invalid"])
    expect((await take(first)).status).toBe(200)
    await service.call("POST", "/cart/checkout", { token: first.token, body: { method: "Free" } })
    expect(faultOf(await take(first))).toEqual([422, "nonce:uniqueness"])
    expect((await take(second)).status).toBe(200)
    expect(faultOf(await take(third))).toEqual([422, "code:used_up"])
  })

  it("never exceeds the budget of the organization that issued the code", async () => {
    const { pubkey } = makeRistrettoSigner()
    const { body: organization } = await asAdmin("POST", "/organizations", { name: "Shop" })
    const codeId = await makeCode({ organization_id: organization.id })
    await withoutBody("POST", `/codes/${codeId}/pubkeys/${pubkey}`)
    const device = await makeDevice()
    const answer = await activate(codeId, device.token, forge(pubkey, device.alternateId))
    expect(faultOf(answer)).toEqual([422, "code:eligibility"])
  })

  it("is limited in attempts for each user", async () => {
    const limited = await serve({ RATE_LIMIT: "on" })
    const user = await limited.user()
    const attempt = () =>
      limited.call("POST", `/codes/${randomUUID()}/random_yat`, {
        token: user.token,
        body: { nonce: "", pubkey: "", signature: "" },
      })
    const statuses = new Set<number>()
    for (let tries = 0; tries < 200 && !statuses.has(429); tries++) statuses.add((await attempt()).status)
    expect([...statuses]).toEqual([404, 429])
  })
})

describe("the kind of a listed key", () => {
  it("decides how signatures are checked, also if the key is valid for both kinds", async () => {
    const ristretto = makeAmbiguousRistretto()
    const edwards = makeEd25519({ isBoth: true })
    const codeId = await makeCode()
    await asAdmin("POST", `/codes/${codeId}/pubkeys/${ristretto.pubkey}`)
    await asAdmin("POST", `/codes/${codeId}/pubkeys/${edwards.pubkey}?kind=ed25519`)
    expect(await listedKeys(codeId)).toEqual([
      { pubkey: ristretto.pubkey, kind: "ristretto255" },
      { pubkey: edwards.pubkey, kind: "ed25519" },
    ])
    const device = await makeDevice()
    const forged = forge(edwards.pubkey, device.alternateId)
    expect(faultOf(await activate(codeId, device.token, forged))).toEqual([422, "signature:invalid"])
    const signed = edwards.sign(device.alternateId, "n")
    expect((await activate(codeId, device.token, signed)).status).toBe(200)
    await service.call("DELETE", "/cart", { token: device.token })
    const other = ristretto.sign(device.alternateId)
    expect((await activate(codeId, device.token, other)).status).toBe(200)
  })

  it("is Ed25519 for keys that the release before listed", async () => {
    const old = makeEd25519({ isBoth: true })
    const codeId = await makeCode()
    // The release before inserts rows without a kind.
    await service.sql`insert into code_pubkey (code_id, pubkey) values (${codeId}, ${old.pubkey})`
    expect(await listedKeys(codeId)).toEqual([{ pubkey: old.pubkey, kind: "ed25519" }])
    const device = await makeDevice()
    const forged = forge(old.pubkey, device.alternateId)
    expect(faultOf(await activate(codeId, device.token, forged))).toEqual([422, "signature:invalid"])
    expect((await activate(codeId, device.token, old.sign(device.alternateId, "n"))).status).toBe(200)
  })

  it("is not guessed: an Ed25519 key that is no Ristretto255 key is 422 without `kind=ed25519`", async () => {
    let key = makeEd25519()
    while (readRistrettoKey(key.pubkey) !== undefined) key = makeEd25519()
    const codeId = await makeCode()
    const path = `/codes/${codeId}/pubkeys/${key.pubkey}`
    const refused = await asAdmin("POST", path)
    expect(faultOf(refused)).toEqual([422, "pubkey:invalid"])
    expect(refused.body.error).toContain("?kind=ed25519")
    expect((await asAdmin("POST", `${path}?kind=ed25519`)).status).toBe(200)
    expect((await asAdmin("POST", `${path}?kind=secp256k1`)).status).toBe(400)
  })

  it("cannot be the identity, which every signature would match", async () => {
    const codeId = await makeCode()
    const refused = await asAdmin("POST", `/codes/${codeId}/pubkeys/${"00".repeat(32)}`)
    expect(faultOf(refused)).toEqual([422, "pubkey:invalid"])
  })
})

describe("a key that is listed twice", () => {
  it("is 422 `uniqueness`, with the same and with another kind, and can be listed again after DELETE", async () => {
    const { pubkey } = makeAmbiguousRistretto()
    const codeId = await makeCode()
    const path = `/codes/${codeId}/pubkeys/${pubkey}`
    expect((await withoutBody("POST", path)).status).toBe(200)
    expect(faultOf(await withoutBody("POST", path))).toEqual([422, "pubkey:uniqueness"])
    expect(faultOf(await asAdmin("POST", `${path}?kind=ed25519`))).toEqual([422, "pubkey:uniqueness"])
    expect((await withoutBody("DELETE", path)).body).toBe(pubkey)
    expect((await asAdmin("POST", `${path}?kind=ed25519`)).status).toBe(200)
    expect(await listedKeys(codeId)).toEqual([{ pubkey, kind: "ed25519" }])
  })

  it("is answered like the first request if the Idempotency-Key is the same", async () => {
    const { pubkey } = makeRistrettoSigner()
    const codeId = await makeCode()
    const path = `/codes/${codeId}/pubkeys/${pubkey}`
    const key = { "Idempotency-Key": randomUUID() }
    expect((await asAdmin("POST", path, undefined, key)).status).toBe(200)
    expect((await asAdmin("POST", path, undefined, key)).body).toBe(pubkey)
    const other = { "Idempotency-Key": randomUUID() }
    expect(faultOf(await asAdmin("POST", path, undefined, other))).toEqual([422, "pubkey:uniqueness"])
  })
})

describe("a random id code", () => {
  it("accepts a discount of 100 percent, and no other discount", async () => {
    const body = { name: "Gift", code_type: "RandomYat" }
    const made = await asAdmin("POST", "/codes", { ...body, discount_as_percentage: 100 })
    expect([made.status, made.body.discount_as_percentage]).toEqual([200, 100])
    for (const discount of [
      { discount_as_percentage: 50 },
      { discount_in_cents: 100 },
      { discount_as_percentage: 100, discount_in_cents: 100 },
    ]) {
      const refused = await asAdmin("POST", "/codes", { ...body, ...discount })
      expect(faultOf(refused)).toEqual([422, "discount_as_percentage:not_allowed"])
    }
  })
})
