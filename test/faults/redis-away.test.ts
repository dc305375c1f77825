import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeRedis, redisBinary, type TestRedis } from "../fixtures/servers/redis.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

let redis: TestRedis
let service: TestService
beforeAll(async () => {
  redis = await makeRedis()
  await redis.start()
  service = await serve({ REDIS_URL: redis.url }, { peersPossible: true })
})
afterAll(() => redis.stop())

/** A way to a server by TCP. What goes silent carries nothing any more, as when a gateway forgets its connections. */
const wayTo = async (url: string) => {
  const { hostname, port } = new URL(url)
  const pairs: Array<readonly [Socket, Socket]> = []
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    pairs.push([near, far])
    for (const end of [near, far]) end.on("error", () => {})
    near.pipe(far).pipe(near)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanUp(() => {
    server.close()
    for (const end of pairs.flat()) end.destroy()
  })
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        // Read, so that the network seems well, and dropped.
        near.resume()
        far.resume()
      }
    },
  }
}

const ready = async () => {
  const { body, status } = await service.call("GET", "/ready")
  return { status, redis: body.checks?.redis }
}

describe.skipIf(redisBinary === undefined)("readiness with Redis", () => {
  it("says that Redis is away and back again, and takes traffic all the while", async () => {
    await expect.poll(ready).toEqual({ status: 200, redis: "ok" })
    await redis.stop()
    await expect.poll(ready).toEqual({ status: 200, redis: "away" })
    expect((await service.call("GET", "/emoji")).status).toBe(200)
    await redis.start()
    await expect.poll(ready).toEqual({ status: 200, redis: "ok" })
  })

  it("says that it is back after its connections went silent without being closed", async () => {
    const way = await wayTo(redis.url)
    const distant = await serve({ REDIS_URL: way.url }, { peersPossible: true })
    const redisNow = async () => (await distant.call("GET", "/ready")).body.checks?.redis
    await expect.poll(redisNow).toBe("ok")
    way.silence()
    await expect.poll(redisNow).toBe("away")
    await expect.poll(redisNow).toBe("ok")
  })

  it("says nothing of a Redis that nobody configured", async () => {
    const plain = await serve({}, { peersPossible: true })
    const { body } = await plain.call("GET", "/ready")
    expect(body.checks).toEqual({ postgres: "ok", writes: "ok", traffic: "ok" })
  })
})
