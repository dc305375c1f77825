import { setTimeout as sleep } from "node:timers/promises"
import postgres, { type Sql } from "postgres"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { postgresTransport } from "../../src/cluster/transport-postgres.ts"
import { proxyTo } from "../fixtures/servers/database-proxy.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { connectTo, startPostgres } from "./postgres-server.ts"

let server: Awaited<ReturnType<typeof startPostgres>>
let admin: Sql
beforeAll(async () => {
  server = await startPostgres()
  admin = server.connect("admin")
})
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server.stop()
})

const open = async (name: string, options: Partial<Parameters<typeof postgresTransport>[0]> = {}) => {
  const transport = postgresTransport({
    connect: (client) => connectTo(server.directory, name, client),
    channel: "test",
    silenceMs: 300,
    ...options,
  })
  const received: Array<string> = []
  let ups = 0
  const { close } = await transport.open(name, {
    onMessage: (payload) => received.push(payload),
    onUp: () => {
      ups += 1
    },
  })
  return { transport, received, ups: () => ups, close }
}
const backends = (name: string) => admin`select pid from pg_stat_activity where application_name = ${name}`

it("all clients receive all messages in the same order, including a message of the maximum size", async () => {
  const [a, b] = await Promise.all([open("a"), open("b")])
  const long = "🐙".repeat(2_000).slice(0, -2)
  const longest = long + "x".repeat(a.transport.maxBytes - Buffer.byteLength(long))
  await Promise.all(
    [a, b].flatMap(({ transport }) => [
      transport.publish([{ payload: "1" }]),
      transport.publish([{ payload: longest }]),
      transport.publish([{ payload: "2" }]),
    ]),
  )
  await vi.waitUntil(() => a.received.length === 6 && b.received.length === 6, patiently)
  expect(a.received).toEqual(b.received)
  await expect(a.transport.publish([{ payload: `${longest}x` }])).rejects.toThrow()
  await Promise.all([a.close(), b.close()])
  // A backend ends a moment after its client has disconnected.
  await expect.poll(() => backends("a")).toEqual([])
})

it("a client listens again after its connections were terminated repeatedly, and reports the reconnect", async () => {
  const { transport, received, ups, close } = await open("cut")
  let isCut = true
  const speaking = (async () => {
    while (isCut) await Promise.race([transport.publish([{ payload: "cut" }]).catch(() => {}), sleep(20)])
  })()
  for (let turn = 0; turn < 80; turn += 1) {
    await admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'cut' and (${turn % 3 === 0} or (query ilike 'listen%') = ${turn % 5 === 0})`
    await sleep(Math.random() * 50)
  }
  isCut = false
  await speaking
  const { length } = received
  await vi.waitUntil(async () => {
    await Promise.race([transport.publish([{ payload: "again" }]).catch(() => {}), sleep(100)])
    return received.length > length
  }, patiently)
  expect(ups()).toBeGreaterThan(1)
  await close()
})

it("a client receives on all channels after its connection was cut while it listened again on one of them", async () => {
  const proxy = await proxyTo({ socketDir: server.directory, port: 5432, database: "postgres" })
  if (!("url" in proxy.address)) throw new Error("the proxy has a URL")
  const { url } = proxy.address
  const others: Array<string> = []
  const { transport, received, ups, close } = await open("again", {
    connect: (client) => postgres(url, { ...client, onnotice: () => {} }),
    others: { other: (payload) => others.push(payload) },
    // So long that the transport does not replace its clients for this reason.
    silenceMs: 600_000,
  })
  const receivesAll = (payload: string) =>
    vi.waitUntil(async () => {
      await Promise.race([
        transport.publish([{ payload: `${payload} to all` }, { to: "again", payload }]).catch(() => {}),
        sleep(100),
      ])
      await admin.notify("other", payload)
      return received.includes(payload) && received.includes(`${payload} to all`) && others.includes(payload)
    }, patiently)
  for (const channel of ["test", "test_again", "other"]) {
    const [before, lost] = [ups(), proxy.lost()]
    proxy.loseAnswerTo(`"${channel}"`)
    proxy.cut()
    await vi.waitUntil(() => proxy.lost() > lost && ups() > before, patiently)
    await receivesAll(`after ${channel}`)
  }
  await close()
})

it("a client stays connected although the server has a short `idle_session_timeout`", async () => {
  await admin`alter database postgres set idle_session_timeout = '100ms'`
  try {
    const { transport, received, ups, close } = await open("idle")
    // The test takes several times as long as `idle_session_timeout`. A message is sent every 20 ms, so the transport
    // does not replace the client because of `silenceMs`.
    const speaking = setInterval(
      () => void transport.publish([{ payload: "still here" }]).catch(() => {}),
      20,
    )
    await vi.waitUntil(() => received.length > 40, patiently)
    clearInterval(speaking)
    expect(ups()).toBe(1)
    await close()
  } finally {
    await admin`alter database postgres reset idle_session_timeout`
  }
})

it("a client receives the messages to it and to all, in the order in which they were sent", async () => {
  const [a, b] = await Promise.all([open("one"), open("two")])
  await a.transport.publish([{ payload: "1" }, { to: "two", payload: "2" }, { payload: "3" }])
  await vi.waitUntil(() => a.received.length === 2 && b.received.length === 3, patiently)
  expect([a.received, b.received]).toEqual([
    ["1", "3"],
    ["1", "2", "3"],
  ])
  await Promise.all([a.close(), b.close()])
})
