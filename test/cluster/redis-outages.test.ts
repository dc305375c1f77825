import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { redisTransport } from "../../src/cluster/redis.ts"
import { redisBinary } from "../fixtures/servers/redis.ts"
import { startRedis } from "./redis-server.ts"

describe.skipIf(redisBinary === undefined)("a failing Redis connection", () => {
  it("is reported once for each reason, and again if it has worked and then fails", async () => {
    const redis = await startRedis(["--requirepass", "right"])
    const failures: Array<string> = []
    let ups = 0
    const transport = redisTransport(redis.url, "outages", (reason) => failures.push(reason))
    const { close } = await transport.open("own", { onMessage: () => {}, onUp: () => ups++ })
    try {
      await expect.poll(() => failures.join()).toContain("NOAUTH")
      const first = failures.length
      // During this pause the transport tries many times to connect.
      await sleep(1500)
      expect([failures.length, ups]).toEqual([first, 0])
      await redis.kill()
      await redis.start([])
      await expect.poll(() => ups).toBe(1)
      const before = failures.length
      await redis.kill()
      await expect.poll(() => failures.length).toBeGreaterThan(before)
    } finally {
      await close()
      redis.remove()
    }
  })
})
