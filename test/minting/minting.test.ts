import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import type { EthAddress } from "../../src/keys/eth-address.ts"
import { MintSignatures } from "../../src/minting/mint-signatures.ts"
import { type DirectoryService, ethereum, serveDirectory } from "../directory/directory-service.ts"
import { expectContract } from "../fixtures/contract.ts"
import type { TestUser } from "../fixtures/service.ts"

const id = "🍕❤️"
let service: DirectoryService
let owner: TestUser
beforeAll(async () => {
  service = await serveDirectory()
  owner = await service.user()
  await service.register(id, owner)
})
const permit = (body: unknown, caller = owner, text = id) =>
  service.call("POST", `/emoji_id/${encodeURIComponent(text)}/generate_signature`, {
    token: caller.token,
    body,
  })
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

describe("a mint signature", () => {
  it("is made with the service's key for the id without variation selectors, the account and the expiry", async () => {
    const expiry = inSeconds(600)
    const answer = await permit({ account: ethereum.toLowerCase(), expiry })
    expect(answer.status).toBe(200)
    expectContract("SignatureResponse", answer.body)
    expect(answer.body).toMatchObject({ account: ethereum, expiry, token: "🍕❤" })
    const [signer, recovered] = await service.runtime.runPromise(
      MintSignatures.use((mint) =>
        Effect.map(mint.signer, (signer) => [
          signer,
          mint.recover(
            { token: "🍕❤", account: ethereum as EthAddress, expirySeconds: expiry },
            answer.body.signature,
          ),
        ]),
      ),
    )
    expect(recovered).toBe(signer)
  })

  it("expires after an hour by default, and after a day at most", async () => {
    const usual = (await permit({ account: ethereum })).body.expiry
    expect(usual - inSeconds(0)).toBeLessThan(3600 + 60)
    const long = (await permit({ account: ethereum, expiry: inSeconds(10_000_000) })).body.expiry
    expect(long - inSeconds(0)).toBeLessThan(86_400 + 60)
    expect((await permit({ account: ethereum, expiry: inSeconds(-60) })).status).toBe(400)
  })

  it("is given only to the owner of the id, and requires a valid Ethereum account", async () => {
    const stranger = await service.user()
    expect((await permit({ account: ethereum }, stranger)).status).toBe(403)
    expect((await permit({ account: ethereum }, service.admin)).status).toBe(403)
    const anonymous = await service.call("POST", `/emoji_id/${id}/generate_signature`, { body: {} })
    expect(anonymous.status).toBe(401)
    expect((await permit({ account: ethereum }, owner, "🍕🐶")).status).toBe(404)
    expect((await permit({ account: "0x12" })).status).toBe(400)
    expect((await permit({ account: ethereum.replace("d8d", "D8d") })).status).toBe(400)
    expect((await permit({})).status).toBe(400)
  })

  it("is not given if the id is in transfer, blocked after a transfer, or already minted", async () => {
    const status = async () => (await permit({ account: ethereum })).status
    await service.sql`update claim set kind = 'transfer', holder = ${randomUUID()} where canonical = ${id}`
    expect(await status()).toBe(409)
    await service.sql`update claim set kind = 'owned', holder = ${owner.id} where canonical = ${id}`
    await service.sql`update emoji_id set blocked_until = now() + interval '1 hour' where canonical = ${id}`
    const blocked = await permit({ account: ethereum })
    expect([blocked.status, Date.parse(blocked.body.blocked_until) > Date.now()]).toEqual([409, true])
    await service.sql`update emoji_id set blocked_until = now() where canonical = ${id}`
    expect(await status()).toBe(200)
    await service.sql`update emoji_id set minted_at = now() where canonical = ${id}`
    expect(await status()).toBe(409)
    await service.sql`update emoji_id set minted_at = null where canonical = ${id}`
  })
})

describe("GET /nft_transfers/metadata/{token_id}", () => {
  it("returns a generated image, and then the image and the video that the owner stored", async () => {
    const [{ token_id: tokenId }] = await service.sql<[{ token_id: number }]>`
      select token_id from emoji_id where canonical = ${id}`
    const get = () => service.call("GET", `/nft_transfers/metadata/${tokenId}`)
    const plain = await get()
    expect(plain.status).toBe(200)
    expectContract("Metadata", plain.body)
    expect(plain.body.image).toMatch(/^data:image\/svg\+xml;base64,/)
    await service.call("POST", `/emoji_id/${id}/json/VisualizerFileLocations`, {
      token: owner.token,
      body: { data: { image: "https://cdn.example/a.png", video: "https://cdn.example/a.mp4" } },
    })
    expect((await get()).body).toMatchObject({
      name: id,
      image: "https://cdn.example/a.png",
      animation_url: "https://cdn.example/a.mp4",
    })
  })

  it("returns 404 for an unknown token id and 400 for an invalid token id", async () => {
    expect((await service.call("GET", "/nft_transfers/metadata/999999")).status).toBe(404)
    expect((await service.call("GET", "/nft_transfers/metadata/x")).status).toBe(400)
    expect((await service.call("GET", "/nft_transfers/metadata/9223372036854775807")).status).toBe(400)
  })
})
