import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeRedis, redisBinary, type TestRedis } from "../fixtures/redis.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let redis: TestRedis
let service: TestService
beforeAll(async () => {
  redis = await makeRedis()
  await redis.start()
  service = await serve({ REDIS_URL: redis.url }, { peersPossible: true })
})
afterAll(() => redis.stop())

const ready = async () => {
  const { body, status } = await service.call("GET", "/ready")
  return { status, redis: body.checks?.redis }
}

describe.skipIf(redisBinary === undefined)("readiness with Redis", () => {
  it("says that Redis is away and back again, and takes traffic all the while", async () => {
    await expect.poll(ready, { timeout: 10_000 }).toEqual({ status: 200, redis: "ok" })
    await redis.stop()
    await expect.poll(ready, { timeout: 10_000 }).toEqual({ status: 200, redis: "away" })
    expect((await service.call("GET", "/emoji")).status).toBe(200)
    await redis.start()
    await expect.poll(ready, { timeout: 10_000 }).toEqual({ status: 200, redis: "ok" })
  })

  it("says nothing of a Redis that nobody configured", async () => {
    const plain = await serve({}, { peersPossible: true })
    const { body } = await plain.call("GET", "/ready")
    expect(body.checks).toEqual({ postgres: "ok", writes: "ok", traffic: "ok" })
  })
})
