import { describe, expect, it } from "vitest"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const post = (token: string, emoji_id: string) =>
  service.call("POST", "/user_interests", { token, body: { emoji_id } })
const at = (emojiId: string) => `/user_interests/${encodeURIComponent(emojiId)}`

describe("the API of user interests", () => {
  it("registers an interest only once, answers 422 uniqueness afterwards, and finds it under every spelling of the id", async () => {
    const { token, id } = await service.user()
    const first = await post(token, "👍🏿🌊")
    expect(first.status).toBe(200)
    expectAnswer("POST", "/user_interests", first.body)
    expect(first.body).toMatchObject({ emoji_id: "👍🌊", user_id: id })
    const again = await post(token, "👍🌊")
    expect(again.status).toBe(422)
    expect(again.body.fields.emoji_id[0].code).toBe("uniqueness")
    const shown = await service.call("GET", at("👍🏼🌊"), { token })
    expectAnswer("GET", "/user_interests/{emoji_id}", shown.body)
    expect(shown.body.id).toBe(first.body.id)
  })

  it("answers a repeated request with the same Idempotency-Key like the first, and one with another key with 422", async () => {
    const { token } = await service.user()
    const ask = (key: string) =>
      service.call("POST", "/user_interests", {
        token,
        body: { emoji_id: "🔥🌊🐙" },
        headers: { "idempotency-key": key },
      })
    const first = await ask("first")
    expect((await ask("first")).body).toEqual(first.body)
    expect((await ask("second")).status).toBe(422)
  })

  it("lists only the caller's interests, in pages", async () => {
    const [one, other] = await Promise.all([service.user(), service.user()])
    for (const id of ["🐙🌊", "🌊🐙", "🚀🌊"]) await post(one.token, id)
    await post(other.token, "🔥🔥")
    const pages = await Promise.all(
      [0, 1].map((page) =>
        service.call("GET", `/user_interests?limit=2&page=${page}&sort=emoji_id&dir=Asc`, {
          token: one.token,
        }),
      ),
    )
    for (const { body } of pages) expectAnswer("GET", "/user_interests", body)
    const ids = pages.flatMap(({ body }) =>
      body.data.map((interest: { emoji_id: string }) => interest.emoji_id),
    )
    expect(ids).toEqual(["🌊🐙", "🐙🌊", "🚀🌊"])
    expect(pages[1]!.body.paging).toMatchObject({ total: 3, page: 1, sort: "emoji_id" })
  })

  it("deletes an interest, and returns 404 for a deleted interest", async () => {
    const { token } = await service.user()
    await post(token, "🐙🐙")
    const gone = await service.call("DELETE", at("🐙🐙"), { token, rawBody: "null" })
    expectAnswer("DELETE", "/user_interests/{emoji_id}", gone.body)
    expect((await service.call("GET", at("🐙🐙"), { token })).status).toBe(404)
    expect((await service.call("DELETE", at("🐙🐙"), { token })).status).toBe(404)
  })

  it("rejects an invalid id with 400, and an id that the user owns with 422", async () => {
    const { id, token } = await service.user()
    const unsupported = await post(token, "abc")
    expect(unsupported.status).toBe(400)
    expect(unsupported.body.code).toBe("unsupported_emoji")
    expect((await service.call("GET", at("abc"), { token })).status).toBe(400)
    await service.sql`insert into claim (canonical, kind, holder, owner_id) values ('🚀🚀', 'owned', ${id}, ${id})`
    const own = await post(token, "🚀🚀")
    expect(own.status).toBe(422)
    expect(own.body.fields.emoji_id[0].code).toBe("eligibility")
  })
})
