import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { redisTransport } from "../../src/cluster/redis.ts"
import { redisBinary } from "../fixtures/servers/redis.ts"
import { startRedis } from "./redis-server.ts"

describe.skipIf(redisBinary === undefined)("a Redis that cannot be used", () => {
  it("is said to be so with its reason, once, and again after it has been there", async () => {
    const redis = await startRedis(["--requirepass", "right"])
    const troubles: Array<string> = []
    let ups = 0
    const transport = redisTransport(redis.url, "trouble", (reason) => troubles.push(reason))
    const { close } = await transport.open({ onMessage: () => {}, onUp: () => ups++ })
    try {
      await expect.poll(() => troubles.join()).toContain("NOAUTH")
      const first = troubles.length
      // Many attempts to connect fit in here.
      await sleep(1500)
      expect([troubles.length, ups]).toEqual([first, 0])
      await redis.kill()
      await redis.start([])
      await expect.poll(() => ups).toBe(1)
      const before = troubles.length
      await redis.kill()
      await expect.poll(() => troubles.length).toBeGreaterThan(before)
    } finally {
      await close()
      redis.remove()
    }
  })
})
