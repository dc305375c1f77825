import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"

let service: TestService
let owner: TestUser
beforeAll(async () => {
  service = await serve()
  owner = await service.user()
  await service.sql`insert into emoji_id (canonical, owner_id, source) values ('🚀🌊', ${owner.id}, 'admin')`
})
describe("x", () => {
  it("works", async () => {
    for (let i = 0; i < 3; i++) {
      const a = await service.call("GET", "/emoji_id/🚀🌊")
      console.log(a.status, a.text, Object.fromEntries(a.headers))
    }
    for (const p of [
      "/emoji_id/🚀",
      "/emoji_id/🚀",
      "/emoji_id/🚀x",
      "/emoji_id/%ff",
      "/emoji_id/🚀🌊/BTC",
      "/emoji_id/🚀🌊?tags=0x1003",
      "/emoji_id/🚀🌊?tags=zz",
      "/emoji_id/",
      "/emoji_id/🚀🌊/confirm?tag=BTC&data=x",
    ]) {
      const a = await service.call("GET", p)
      console.log(p, a.status, a.text)
    }
    const b = await service.call("POST", "/emoji_id/lookup", { body: { emoji_ids: ["🚀🌊", "x", "🌊"] } })
    console.log(b.text)
    expect(1).toBe(1)
  })
})
