import { Effect, Exit, Layer, ManagedRuntime } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { Bus, type BusOptions } from "../../src/cluster/bus.ts"
import { decodeMessage, type Message } from "../../src/cluster/message.ts"
import { redisTransport } from "../../src/cluster/redis.ts"
import type { Transport, TransportHandlers } from "../../src/cluster/transport.ts"
import { redisBinary } from "../fixtures/servers/redis.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { createCluster, linkTo } from "./link.ts"
import { startPostgres } from "./postgres-server.ts"
import { startRedis } from "./redis-server.ts"

/** The lease is long enough that it does not expire on a busy machine unless the test causes it. */
const times = { renewMs: 200, leaseMs: 3_000, markMs: 10_000, statementMs: 1_000 }

let server: Awaited<ReturnType<typeof startPostgres>>
let closing: Array<() => Promise<unknown>> = []
beforeAll(async () => {
  server = await startPostgres()
  const admin = server.connect("admin")
  await createCluster(admin)
  await admin.end()
})
afterEach(async () => {
  await Promise.all(closing.map((close) => close()))
  closing = []
})
afterAll(() => server.stop())

type Link = NonNullable<BusOptions["link"]>
const link = (silenceMs = 3_000) => linkTo(server.directory, "bus", silenceMs)

const open = async (options: Partial<Link> | "alone" = {}) => {
  const runtime = ManagedRuntime.make(
    Bus.layer({ link: options === "alone" ? undefined : { ...link(), ...options }, ...times }),
  )
  closing.push(() => runtime.dispose())
  const bus = await runtime.runPromise(Bus.use((bus) => Effect.succeed(bus)))
  const woken: Array<string> = []
  const dropped: Array<string> = []
  let gaps = 0
  bus.subscribe("topic", (payload) => woken.push(payload))
  bus.onInvalidate("topic", (keys) => dropped.push(...(keys === "all" ? ["all"] : keys)))
  bus.onGap(() => {
    gaps += 1
  })
  const invalidate = (...keys: ReadonlyArray<string>) =>
    runtime.runPromise(bus.invalidating({ topic: keys })(Effect.void))
  const serves = () => vi.waitUntil(bus.mayServe, patiently)
  return { bus, woken, dropped, gaps: () => gaps, invalidate, serves, close: () => runtime.dispose() }
}

/** Opens two processes that know each other. */
const openTwo = async (options: () => Partial<Link> = () => ({})) => {
  const [a, b] = await Promise.all([open(options()), open(options())])
  for (const { bus, serves } of [a, b]) {
    await serves()
    await vi.waitUntil(() => bus.stats().peers === 1, patiently)
  }
  return [a, b] as const
}

/** Records all messages that processes send through the database. */
const recordMessages = async () => {
  const messages: Array<Message> = []
  // This listener sends nothing, which must not count as a failure.
  const { close } = await link(1_000_000).transport.open(undefined, {
    onUp: () => {},
    onMessage: (payload) => {
      const message = decodeMessage(payload)
      if (message._tag === "Some") messages.push(message.value)
    },
  })
  closing.push(close)
  return messages
}

describe("the message bus without a transport", () => {
  it("runs handlers synchronously, allows the use of caches, and sends nothing", async () => {
    const { bus, dropped, woken } = await open("alone")
    Effect.runSync(bus.invalidate("topic", ["a", "b"]))
    bus.publish("topic", "hello")
    // Before and after the change.
    expect(dropped).toEqual(["a", "b", "a", "b"])
    expect(woken).toEqual(["hello"])
    expect(bus.mayServe()).toBe(true)
    expect(bus.stats()).toMatchObject({ sent: 0, peers: 0 })
  })

  it("forbids the use of caches after a cache has failed to drop a key", async () => {
    const { bus, dropped } = await open("alone")
    bus.onInvalidate("other", () => {
      throw new Error("cannot drop")
    })
    bus.onInvalidate("other", () => dropped.push("other"))
    Effect.runSync(bus.invalidate("other", ["a"]))
    expect(dropped).toEqual(["other", "other"])
    expect(bus.mayServe()).toBe(false)
    expect(bus.stats().handlerFailures).toBe(2)
  })
})

describe("the message bus with a transport", () => {
  it("sends nothing to other processes when there are none", async () => {
    const messages = await recordMessages()
    const { bus, serves, invalidate, woken } = await open()
    await serves()
    for (let count = 0; count < 50; count += 1) {
      await invalidate(`${count}`)
      bus.publish("topic", `${count}`)
    }
    expect(woken).toHaveLength(50)
    const other = await open()
    await other.serves()
    other.bus.publish("topic", "last")
    await vi.waitUntil(() => messages.some(({ wakes }) => wakes !== undefined), patiently)
    const withContent = messages.filter((message) => message.marks ?? message.done ?? message.wakes)
    expect(withContent.map(({ wakes }) => wakes)).toEqual([[["topic", "last"]]])
  })

  it("combines simultaneous changes into few messages, and delivers each change", async () => {
    const messages = await recordMessages()
    const [a, b] = await openTwo()
    b.dropped.length = 0
    const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`)
    for (const key of keys) for (let times = 0; times < 3; times += 1) a.bus.publish("topic", key)
    await Promise.all(keys.map((key) => a.invalidate(key)))
    expect([...new Set(b.dropped)].sort()).toEqual(keys.sort())
    await vi.waitUntil(() => b.woken.length >= 300, patiently)
    expect(b.woken.sort()).toEqual(keys)
    // 900 wake-ups and 300 invalidations. How many share a message depends on how busy the machine is.
    const withContent = () =>
      messages.filter(({ marks, wakes }) => marks !== undefined || wakes !== undefined)
    // The observer may receive a message later than the other process.
    await vi.waitUntil(() => JSON.stringify(withContent()).split("key ").length > 2 * keys.length, patiently)
    expect(withContent().length).toBeLessThan(keys.length / 2)
  })

  it("tells the other process that wake-ups were dropped when too many are published at once", async () => {
    const [a, b] = await openTwo()
    const gaps = b.gaps()
    const missed = b.bus.stats().gaps
    for (let count = 0; count < 5_000; count += 1) a.bus.publish("topic", `${count}`)
    await vi.waitUntil(() => b.gaps() > gaps, patiently)
    expect(b.bus.stats().gaps).toBe(missed)
  })

  it("does not count a process that stops normally as lost", async () => {
    const [a, b] = await Promise.all([open(), open()])
    await vi.waitUntil(() => a.bus.stats().peers === 1, patiently)
    await b.close()
    await vi.waitUntil(() => a.bus.stats().peers === 0, patiently)
    expect(a.bus.stats().lost).toBe(0)
    expect(b.bus.mayServe()).toBe(false)
  })

  it("fails to start with `TransportUnreachable` when the database is unreachable", async () => {
    const nowhere = linkTo("/nowhere", "bus", 400)
    const exit = await Effect.runPromiseExit(
      Effect.scoped(Layer.build(Bus.layer({ link: nowhere, ...times }))),
    )
    expect(Exit.isFailure(exit) && `${exit.cause}`).toContain("TransportUnreachable")
  })
})

describe.skipIf(redisBinary === undefined)("the message bus with Redis", () => {
  it("sends wake-ups through Redis, or through Postgres while Redis fails, and still invalidates caches", async () => {
    const redis = await startRedis()
    closing.push(async () => redis.remove())
    const redisFastPath = () => redisTransport(redis.url, "bus_test", () => {})
    const messages = await recordMessages()
    const [a, b] = await openTwo(() => ({ redisFastPath: redisFastPath() }))
    const missed = () => a.bus.stats().gaps + b.bus.stats().gaps
    const missedBefore = missed()
    let sent = 0
    const wake = async () => {
      sent += 1
      const payload = `wake ${sent}`
      a.bus.publish("topic", payload)
      await vi.waitUntil(() => b.woken.includes(payload), patiently)
      // Process b sends this invalidation after it has received the wake-up. When the invalidation is recorded, a
      // wake-up that was sent through the database is also recorded.
      await b.invalidate(payload)
      await vi.waitUntil(
        () => JSON.stringify(messages.map(({ marks }) => marks)).includes(`"${payload}"`),
        patiently,
      )
      return JSON.stringify(messages.map(({ wakes }) => wakes)).includes(`"${payload}"`)
        ? "database"
        : "redis"
    }
    const takesRedis = () => vi.waitUntil(async () => (await wake()) === "redis", patiently)

    await takesRedis()

    redis.signal("SIGSTOP")
    expect(await wake()).toBe("database")
    await a.invalidate("while it hangs")
    expect(b.dropped).toContain("while it hangs")
    const gaps = b.gaps()
    redis.signal("SIGCONT")
    await takesRedis()

    await redis.kill()
    expect(await wake()).toBe("database")
    await a.invalidate("while it is down")
    expect(b.dropped).toContain("while it is down")
    const c = await open({ redisFastPath: redisFastPath() })
    await c.serves()

    await redis.start()
    await takesRedis()
    expect(b.gaps()).toBeGreaterThan(gaps)
    expect(missed()).toBe(missedBefore)
  })
})

describe("the message bus with a second transport for wake-ups", () => {
  it("reports lost wake-ups through the database when the second transport refuses the report", async () => {
    const messages = await recordMessages()
    const ends = new Set<TransportHandlers>()
    const carried: Array<string> = []
    let isRefused = false
    const redisFastPath = (refuses: (payload: string) => boolean): Transport => ({
      maxBytes: 10_000,
      publish: async (sent) => {
        for (const { payload } of sent) {
          if (refuses(payload)) {
            isRefused = true
            throw new Error("refused")
          }
          carried.push(payload)
          for (const end of ends) end.onMessage(payload)
        }
      },
      open: async (_own, handlers) => {
        ends.add(handlers)
        handlers.onUp()
        return { close: async () => void ends.delete(handlers) }
      },
    })
    const a = await open({ redisFastPath: redisFastPath((payload) => payload.includes("wakesLost")) })
    const b = await open({ redisFastPath: redisFastPath(() => false) })
    await Promise.all([a.serves(), b.serves()])
    await vi.waitUntil(() => a.bus.isRedisConnected() && b.bus.isRedisConnected(), patiently)
    await b.invalidate("a and b know each other")
    await vi.waitUntil(() => {
      a.bus.publish("topic", "by express")
      return carried.some((payload) => payload.includes("by express"))
    }, patiently)
    // This wake-up is longer than the limit for one wake-up. So it is dropped, and the process must report `wakesLost`
    // to the other processes.
    a.bus.publish("topic", "x".repeat(5000))
    await vi.waitUntil(() => isRefused, patiently)
    await vi.waitUntil(() => messages.some(({ wakesLost }) => wakesLost), patiently)
  })
})
