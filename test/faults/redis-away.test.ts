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

/** Starts a TCP proxy. `silence` makes it stop forwarding data, like a gateway that has lost its connections. */
const proxyTo = async (url: string) => {
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
        // The proxy reads and drops the data, so that the connection seems to work.
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

describe.skipIf(redisBinary === undefined)("the readiness check", () => {
  it("reports Redis as `away` after Redis stops and as `ok` after it restarts, always with status 200", async () => {
    await expect.poll(ready).toEqual({ status: 200, redis: "ok" })
    await redis.stop()
    await expect.poll(ready).toEqual({ status: 200, redis: "away" })
    expect((await service.call("GET", "/emoji")).status).toBe(200)
    await redis.start()
    await expect.poll(ready).toEqual({ status: 200, redis: "ok" })
  })

  it("reports Redis as `away` when connections go silent without closing, and then as `ok` again", async () => {
    const proxy = await proxyTo(redis.url)
    const distant = await serve({ REDIS_URL: proxy.url }, { peersPossible: true })
    const redisNow = async () => (await distant.call("GET", "/ready")).body.checks?.redis
    await expect.poll(redisNow).toBe("ok")
    proxy.silence()
    await expect.poll(redisNow).toBe("away")
    await expect.poll(redisNow).toBe("ok")
  })

  it("does not mention Redis if Redis is not configured", async () => {
    const plain = await serve({}, { peersPossible: true })
    const { body } = await plain.call("GET", "/ready")
    expect(body.checks).toEqual({ postgres: "ok", writes: "ok", traffic: "ok" })
  })
})
