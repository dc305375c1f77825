import { describe, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { type Answer, serve } from "../fixtures/service.ts"

const database = await createDatabase()
const one = await serve({}, { database, peersPossible: true })
const two = await serve({}, { database, peersPossible: true })
const admin = await one.user({ role: "Admin" })

/**
 * Sends two requests to each of the two processes and returns the responses. A second response may be a cached one.
 */
const accounts = async (token: string) => {
  const answers = []
  for (const service of [one, two, one, two]) answers.push(await service.call("GET", "/account", { token }))
  for (const answer of answers) expect(answer.status).toBe(200)
  return answers.map(({ body }) => body)
}
const everywhere = async <A>(token: string, pick: (account: Answer["body"]) => A) =>
  new Set((await accounts(token)).map((account) => JSON.stringify(pick(account))))
const all = (value: unknown) => new Set([JSON.stringify(value)])

describe("a repeated GET /account", () => {
  it("returns the same body and content type as the first request", async () => {
    const { token } = await one.user()
    const first = await one.call("GET", "/account", { token })
    const second = await one.call("GET", "/account", { token })
    expect(second.text).toBe(first.text)
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
  })

  it("shows a changed first name in every process", async () => {
    const { token } = await one.user()
    await accounts(token)
    await two.call("PATCH", "/account", { token, body: { first_name: "Ada" } })
    expect(await everywhere(token, ({ user }) => user.first_name)).toEqual(all("Ada"))
  })

  it("shows a new pubkey in every process", async () => {
    const { token } = await one.user()
    await accounts(token)
    expect((await two.call("POST", "/pubkeys", { token })).status).toBe(200)
    const listed = await two.call("GET", "/pubkeys", { token })
    expect(listed.body).toHaveLength(1)
    expect(await everywhere(token, ({ pubkeys }) => pubkeys)).toEqual(all(listed.body))
  })

  it("shows an assigned feature in every process until the feature is deleted", async () => {
    const { id, token } = await one.user()
    const feature = (await one.call("POST", "/features", { token: admin.token, body: { code: "gallery" } }))
      .body
    await accounts(token)
    await two.call("PUT", `/users/${id}/features/${feature.id}`, { token: admin.token })
    expect(await everywhere(token, ({ features }) => features.length)).toEqual(all(1))
    await one.call("DELETE", `/features/${feature.id}`, { token: admin.token })
    expect(await everywhere(token, ({ features }) => features.length)).toEqual(all(0))
  })

  it("shows the number of remaining free ids in every process after a checkout", async () => {
    const { token } = await one.user({ freeLimit: 2 })
    await accounts(token)
    await two.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐙🎉🐙🎉🐙" }] } })
    const bought = await two.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    expect(bought.body.status).toBe("Paid")
    expect(await everywhere(token, ({ user }) => user.remaining_free_emoji)).toEqual(all(1))
  })

  it("shows a pending transfer in every process until the transfer is deleted", async () => {
    const { token } = await one.user()
    await one.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🎉🐙🎉🐙🎉" }] } })
    await one.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    await accounts(token)
    const wish = { eid: "🎉🐙🎉🐙🎉", email: admin.email }
    const { body, status } = await two.call("POST", "/transfers", { token, body: wish })
    expect(status).toBe(200)
    expect(await everywhere(token, (account) => account.pending_transfers)).toEqual(all([wish.eid]))
    await one.call("DELETE", `/transfers/${body.id}`, { token })
    expect(await everywhere(token, (account) => account.pending_transfers)).toEqual(all([]))
  })

  it("returns 401 in every process after the user logs out in one process", async () => {
    const { token } = await one.user()
    await accounts(token)
    await two.call("POST", "/logout", { token })
    for (const service of [one, two])
      expect((await service.call("GET", "/account", { token })).status).toBe(401)
  })
})
