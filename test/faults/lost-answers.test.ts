import { beforeAll, expect, it } from "vitest"
import { newestLink, register } from "../auth/person.ts"
import { createDatabase } from "../fixtures/database.ts"
import { type DatabaseProxy, proxyTo } from "../fixtures/database-proxy.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let proxy: DatabaseProxy
let service: TestService
beforeAll(async () => {
  proxy = await proxyTo(await createDatabase())
  service = await serve({}, { database: proxy.address })
})

/** What is asked for is done, and the database's word of it is lost; the service asks the database again by itself. */
const losing = async <A>(statement: string, ask: () => Promise<A>): Promise<A> => {
  const before = proxy.lost()
  proxy.loseAnswers(statement)
  const answer = ask()
  await expect.poll(proxy.lost).toBe(before + 1)
  proxy.heal()
  return answer
}

it("an API key of whoever squatted an address dies when a mailed link is used there", async () => {
  const squatter = await register(service, { password: undefined })
  const { body: key } = await service.call("POST", "/api_keys", {
    token: squatter.token,
    body: { name: "mine" },
  })
  const use = async () =>
    (await service.call("GET", "/emoji_id", { headers: { "x-api-key": key.api_key } })).status
  expect(await use()).toBe(200)
  await service.call("POST", "/auth/magic_link", { body: { email: squatter.email } })
  const token = await newestLink(service, squatter.email)
  const answer = await losing("consume_magic_link", () =>
    service.call("POST", "/auth/magic_link/consume", { body: { token } }),
  )
  expect(answer.status).toBe(200)
  expect(await service.sql`select 1 from api_key where id = ${key.id}`).toEqual([])
  expect(await use()).toBe(401)
})
