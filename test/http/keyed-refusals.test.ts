import { randomUUID } from "node:crypto"
import { ed25519 } from "@noble/curves/ed25519.js"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { freshId } from "../orders/shopper.ts"
import { grant } from "../transfers/transfer-service.ts"

let service: TestService
let admin: TestUser
let owner: TestUser
beforeAll(async () => {
  service = await serve()
  admin = await service.user({ role: "Admin" })
  owner = await service.user()
})

type Request = readonly [method: string, path: string, caller: TestUser, body?: unknown]

const owned = async () => {
  const id = freshId()
  await grant(service, owner, id)
  return { id, path: `/emoji_id/${encodeURIComponent(id)}` }
}
const newOrganization = async () => {
  const { body } = await service.call("POST", "/organizations", {
    token: admin.token,
    body: { name: "Acme" },
  })
  return `/organizations/${body.id}`
}

const refused: ReadonlyArray<readonly [what: string, status: number, request: () => Promise<Request>]> = [
  [
    "a registration of a taken id",
    422,
    async () => ["POST", "/emoji_id", admin, { emoji_id: (await owned()).id, user_id: owner.id }],
  ],
  [
    "an edit that inserts a record twice",
    422,
    async () => {
      const { path } = await owned()
      const body = { insert: [{ tag: "0x4001", data: "https://example.com" }] }
      await service.call("PATCH", path, { token: owner.token, body })
      return ["PATCH", path, owner, body]
    },
  ],
  [
    "a mint signature for an id of another user",
    403,
    async () => {
      const body = { account: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" }
      return ["POST", `${(await owned()).path}/generate_signature`, await service.user(), body]
    },
  ],
  [
    "a mint with a wrong token_id",
    422,
    async () => ["PUT", `${(await owned()).path}/minted`, admin, { minted: true, token_id: 1_000_000 }],
  ],
  [
    "a removal of an unknown id",
    404,
    async () => ["DELETE", `/emoji_id/${encodeURIComponent(freshId())}`, admin],
  ],
  [
    "a public key that the user already has",
    422,
    async () => {
      const path = `/pubkeys/${Buffer.from(ed25519.keygen().publicKey).toString("hex")}`
      await service.call("POST", path, { token: owner.token })
      return ["POST", path, owner]
    },
  ],
  [
    "an interest that the user already has",
    422,
    async () => {
      const body = { emoji_id: freshId() }
      await service.call("POST", "/user_interests", { token: owner.token, body })
      return ["POST", "/user_interests", owner, body]
    },
  ],
  [
    "the removal of the last owner",
    409,
    async () => {
      const path = `${await newOrganization()}/members/${owner.id}`
      await service.call("PUT", path, { token: admin.token, body: { role: "OrgOwner" } })
      return ["DELETE", path, owner]
    },
  ],
  [
    "a public key of another organization",
    409,
    async () => {
      const { body } = await service.call("POST", "/pubkeys", { token: owner.token })
      await service.call("PUT", `${await newOrganization()}/pubkeys/${body}`, { token: admin.token })
      return ["PUT", `${await newOrganization()}/pubkeys/${body}`, admin]
    },
  ],
]

it.each(refused)(
  "%s is refused, and nothing is committed with its Idempotency-Key",
  async (_, status, request) => {
    const [method, path, { token }, body] = await request()
    const key = randomUUID()
    const answer = await service.call(method, path, { token, body, headers: { "idempotency-key": key } })
    expect(answer.status).toBe(status)
    const rows = await service.sql`
    select 1 from idempotency_key where key = ${key} and (committed_at is not null or outcome_rows is not null)`
    expect(rows).toEqual([])
  },
)
