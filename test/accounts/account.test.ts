import { describe, expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { type Answer, serve } from "../fixtures/service.ts"

const database = await createDatabase()
const one = await serve({}, { database, peersPossible: true })
const two = await serve({}, { database, peersPossible: true })
const admin = await one.user({ role: "Admin" })

/** What both processes answer; each is asked twice, so that the second answer may come from memory. */
const accounts = async (token: string) => {
  const answers = []
  for (const service of [one, two, one, two]) answers.push(await service.call("GET", "/account", { token }))
  for (const answer of answers) expect(answer.status).toBe(200)
  return answers.map(({ body }) => body)
}
const everywhere = async <A>(token: string, pick: (account: Answer["body"]) => A) =>
  new Set((await accounts(token)).map((account) => JSON.stringify(pick(account))))
const all = (value: unknown) => new Set([JSON.stringify(value)])

describe("GET /account, asked again", () => {
  it("answers the same bytes with the same headers", async () => {
    const { token } = await one.user()
    const first = await one.call("GET", "/account", { token })
    const second = await one.call("GET", "/account", { token })
    expect(second.text).toBe(first.text)
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
  })

  it("shows a new name, on every process", async () => {
    const { token } = await one.user()
    await accounts(token)
    await two.call("PATCH", "/account", { token, body: { first_name: "Ada" } })
    expect(await everywhere(token, ({ user }) => user.first_name)).toEqual(all("Ada"))
  })

  it("shows a new key, on every process", async () => {
    const { token } = await one.user()
    await accounts(token)
    expect((await two.call("POST", "/pubkeys", { token })).status).toBe(200)
    const listed = await two.call("GET", "/pubkeys", { token })
    expect(listed.body).toHaveLength(1)
    expect(await everywhere(token, ({ pubkeys }) => pubkeys)).toEqual(all(listed.body))
  })

  it("shows a feature while the user has it, on every process", async () => {
    const { id, token } = await one.user()
    const feature = (await one.call("POST", "/features", { token: admin.token, body: { code: "gallery" } }))
      .body
    await accounts(token)
    await two.call("PUT", `/users/${id}/features/${feature.id}`, { token: admin.token })
    expect(await everywhere(token, ({ features }) => features.length)).toEqual(all(1))
    await one.call("DELETE", `/features/${feature.id}`, { token: admin.token })
    expect(await everywhere(token, ({ features }) => features.length)).toEqual(all(0))
  })

  it("shows free ids used up by a checkout, on every process", async () => {
    const { token } = await one.user({ freeLimit: 2 })
    await accounts(token)
    await two.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐙🎉🐙🎉🐙" }] } })
    const bought = await two.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    expect(bought.body.status).toBe("Paid")
    expect(await everywhere(token, ({ user }) => user.remaining_free_emoji)).toEqual(all(1))
  })

  it("shows a transfer under way and no longer when it is deleted, on every process", async () => {
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

  it("is refused to a token that logged out, on every process", async () => {
    const { token } = await one.user()
    await accounts(token)
    await two.call("POST", "/logout", { token })
    for (const service of [one, two])
      expect((await service.call("GET", "/account", { token })).status).toBe(401)
  })
})
