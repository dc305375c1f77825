import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { RateLimits } from "../../src/http/limits/rate-limits.ts"
import { serveDirectory } from "../directory/directory-service.ts"

const mebibyte = 1024 * 1024

it("a caller above the storage quota gets 429 for a new Idempotency-Key, and still gets stored responses", async () => {
  const service = await serveDirectory({ RATE_LIMIT: "on" })
  const [owner, other] = [await service.user(), await service.user()]
  const [id, others] = ["🍕🍕", "🍕🍕🍕"]
  await service.register(id, owner)
  await service.register(others, other)
  const body = { data: "x".repeat(240_000) }
  const store = (key: string | undefined, { token } = owner, of = id) =>
    service.call("POST", `/emoji_id/${encodeURIComponent(of)}/json/SvcPageData`, {
      token,
      body,
      headers: key === undefined ? {} : { "idempotency-key": key },
    })
  const first = randomUUID()
  let answer = await store(first)
  expect(answer.status).toBe(200)
  // Most of the quota of 64 MiB is used up at once, because hundreds of large requests take long.
  await service.runtime.runPromise(RateLimits.use((limits) => limits.keep(owner.id, 62 * mebibyte)))
  for (let n = 1; answer.status === 200 && n < 20; n++) answer = await store(randomUUID())
  expect([answer.status, answer.body.code]).toEqual([429, "too_many_requests"])
  expect(answer.body.error).toContain("without a key")
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
  const [kept] =
    await service.sql`select sum(length(answer)) as size, bool_and(answer is not null) as all from idempotency_key`
  expect(Number(kept?.["size"])).toBeGreaterThan(mebibyte)
  expect(Number(kept?.["size"])).toBeLessThan(3 * mebibyte)
  expect(kept?.["all"]).toBe(true)

  const repeated = await store(first)
  expect([repeated.status, repeated.headers.get("idempotent-replayed")]).toEqual([200, "true"])
  expect((await store(undefined)).status).toBe(200)
  expect((await store(randomUUID(), other, others)).status).toBe(200)
})
