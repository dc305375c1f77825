import { expect, it } from "vitest"
import { createDatabase } from "../fixtures/database.ts"
import { proxyTo } from "../fixtures/servers/database-proxy.ts"
import { serve } from "../fixtures/service.ts"

it("the service becomes ready again after its database connections went silent without being closed", async () => {
  const proxy = await proxyTo(await createDatabase())
  const service = await serve({ POOL_SIZE: "2", STATEMENT_TIMEOUT_MS: "3000" }, { database: proxy.address })
  const ready = async () => (await service.call("GET", "/ready")).status
  await Promise.all(Array.from({ length: 8 }, ready))
  await expect.poll(ready).toBe(200)
  proxy.silence()
  expect(await ready()).toBe(503)
  await expect.poll(ready, { interval: 200 }).toBe(200)
})

it("metrics are available while the database does not respond", async () => {
  const proxy = await proxyTo(await createDatabase())
  const service = await serve({ REQUEST_DEADLINE_SECONDS: "5" }, { database: proxy.address })
  const metrics = () => service.call("GET", "/metrics")
  expect((await metrics()).status).toBe(200)
  proxy.silence()
  const answers = await Promise.all([metrics(), metrics()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
})

it("a shutdown does not wait for a database that does not respond", async () => {
  const proxy = await proxyTo(await createDatabase())
  // The limit is longer than the limit of the test: a shutdown that waits for a statement fails the test.
  const service = await serve({ STATEMENT_TIMEOUT_MS: "600000" }, { database: proxy.address })
  const { token } = await service.user({ role: "Admin" })
  const facts = { emoji_id: "🐙🌊🐙", user_id: (await service.user()).id }
  expect((await service.call("POST", "/emoji_id", { token, body: facts })).status).toBeLessThan(300)
  const look = () => service.call("GET", `/emoji_id/${encodeURIComponent(facts.emoji_id)}`)
  expect((await look()).status).toBe(200)
  proxy.silence()
  await look()
  await service.stop()
})
