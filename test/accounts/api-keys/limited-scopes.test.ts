import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"

/** These tests use API keys with few scopes. The user of the API keys owns one id. */
const service = await serve()
const admin = await service.user({ role: "Admin" })
const owner = await service.user()
const id = freshId()
await service.call("POST", "/emoji_id", { token: admin.token, body: { emoji_id: id, user_id: owner.id } })

const keyOf = async (scopes?: ReadonlyArray<string>) => {
  const body = { name: "a narrow one", ...(scopes === undefined ? {} : { scopes }) }
  const made = await service.call("POST", "/api_keys", { token: owner.token, body })
  expect(made.status).toBe(200)
  return { headers: { "x-api-key": made.body.api_key as string } }
}
const path = `/emoji_id/${encodeURIComponent(id)}`
const edits = [
  ["records", "PATCH", path, { insert: [{ tag: "0x4001", data: "https://example.com" }] }],
  ["stored data", "POST", `${path}/json/VisualizerName`, { data: "moon" }],
] as const

describe.each(edits)("%s of an id", (_, method, address, body) => {
  it("cannot be changed with the owner's API key if the key lacks the scope `userData:update`", async () => {
    for (const scopes of [[], ["cart:show", "emoji::transfer"]]) {
      expect((await service.call(method, address, { ...(await keyOf(scopes)), body })).status).toBe(403)
    }
  })

  it("can be changed with the owner's API key if the key has the scope `userData:update` or all scopes", async () => {
    const narrow = await service.call(method, address, { ...(await keyOf(["userData:update"])), body })
    expect(narrow.status).toBe(200)
    const removed = await service.call("GET", path)
    const hashes = removed.body.result.map(({ hash }: { hash: string }) => hash)
    const again = { ...(await keyOf()), body: method === "PATCH" ? { ...body, delete: hashes } : body }
    expect((await service.call(method, address, again)).status).toBe(200)
  })
})

it("an API key that lacks one of the required scopes gets 403 from GET /emoji_id and GET /account/load", async () => {
  const bare = await keyOf([])
  expect((await service.call("GET", "/emoji_id", bare)).status).toBe(403)
  expect((await service.call("GET", `/emoji_id?user_id=${owner.id}`, bare)).status).toBe(403)
  expect((await service.call("GET", "/account/load", bare)).status).toBe(403)
  expect((await service.call("GET", "/account/load", await keyOf(["userEmoji:list"]))).status).toBe(403)
  const wide = await keyOf(["userEmoji:list", "emoji::transfer"])
  expect((await service.call("GET", "/account/load", wide)).status).toBe(200)
  expect((await service.call("GET", `/emoji_id?user_id=${owner.id}`, wide)).status).toBe(200)
})
