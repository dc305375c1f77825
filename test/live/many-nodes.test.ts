import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it, onTestFinished } from "vitest"
import { Publisher } from "../../actors/ports.ts"
import { closeCodes } from "../../schema/live-frames.ts"
import type { ServiceOptions } from "../../src/app-layer.ts"
import { EventsToPlace, type Places } from "../../src/turns/event-offsets.ts"
import { createDatabase } from "../fixtures/database.ts"
import { CrowdMember, type Sayings, verdictOf } from "../fixtures/live-crowd.ts"
import { makeRedis } from "../fixtures/servers/redis.ts"
import { serve, type TestService } from "../fixtures/service.ts"

const members = 500
const channels = ["market", ...["🐙", "🍕", "🌊", "🚀", "🎸", "🍉", "🌈"].map((emoji) => `emoji_id:${emoji}`)]
const eventsPerSecond = 40

/** Silently drops every hundredth wake-up. */
const lossy: ServiceOptions["interceptBus"] = (bus) => {
  let count = 0
  const isLost = () => ++count % 100 === 0
  return {
    ...bus,
    publish: (topic, payload) => (isLost() ? undefined : bus.publish(topic, payload)),
    wakeOthers: (topic, payload) => (isLost() ? undefined : bus.wakeOthers(topic, payload)),
  }
}

it("clients receive all events in order despite restarts, lost wake-ups, a paused reader and a Redis outage", async () => {
  const redis = await makeRedis()
  onTestFinished(redis.stop)
  await redis.start()
  const database = await createDatabase()
  const start = () =>
    serve(
      { REDIS_URL: redis.url, DRAIN_SECONDS: "1" },
      { database, peersPossible: true, interceptBus: lossy },
    )

  const nodes: Array<TestService> = [await start(), await start()]
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  })
  const someNode = () => nodes[Math.floor(Math.random() * nodes.length)]!
  const sayings: Sayings = new Map()
  const someChannels = () => {
    const first = Math.floor(Math.random() * channels.length)
    return [channels[first]!, channels[(first + 1 + Math.floor(Math.random() * 6)) % channels.length]!]
  }
  const crowd = Array.from(
    { length: members },
    () => new CrowdMember(someChannels(), () => someNode().url, sayings),
  )
  const until = async (holds: () => boolean) => {
    await expect.poll(holds).toBe(true)
  }
  await until(() => crowd.every((member) => member.isReady))

  // Writers commit on both nodes at the same time, to several channels in one statement.
  let writing = true
  let written = 0
  const write = async () => {
    const node = someNode()
    const publisher = await node.runtime.runPromise(Publisher)
    while (writing && nodes.includes(node)) {
      const said = new EventsToPlace([
        someChannels().map((channel) => ({ channel, type: "test.happened", data: { id: randomUUID() } })),
      ])
      const [row] = await node.sql<[{ places: Places }]>`
        select place_said(${said.json}::text::jsonb) as places`
      const events = said.placed(row.places).flat()
      // `committed` publishes the events of a turn, `moved` those of a separate statement.
      if (Math.random() < 0.5) publisher.committed(events)
      else publisher.moved(events)
      written += 2
      await sleep((1000 * 4 * 2 * (0.5 + Math.random())) / eventsPerSecond)
    }
  }
  const writers = Array.from({ length: 4 }, async () => {
    while (writing) await write()
  })
  let breaking = true
  const breaker = (async () => {
    while (breaking) {
      for (let n = 0; n < 5; n++) crowd[1 + Math.floor(Math.random() * (members - 1))]!.drop()
      await sleep(100)
    }
  })()

  const paused = crowd[0]!
  paused.pause()
  await sleep(1000)
  // A rolling restart: each node stops after its replacement has started.
  for (let n = 0; n < 2; n++) {
    nodes.push(await start())
    await until(() => crowd.filter((member) => member.isReady).length > 0.8 * members)
    await nodes.shift()!.stop()
    await sleep(300)
  }
  await redis.stop()
  await sleep(1500)
  await redis.start()
  await sleep(500)
  breaking = false
  await breaker
  writing = false
  await Promise.all(writers)
  paused.resume()

  const rows = await someNode().sql<
    Array<{ name: string; offset: number }>
  >`select name, "offset" from channel`
  const heads = new Map(rows.map((row) => [row.name, row.offset]))
  await until(() => crowd.every((member) => member.isAt(heads)))

  const verdict = verdictOf(crowd)
  expect(verdict.faults).toEqual([])
  expect(verdict.closings[closeCodes.restart]).toBeGreaterThan(members / 2)
  expect(verdict.recovered).toBeGreaterThan(members)
  // No event was deleted, so no client had to start again with the state.
  expect(verdict.unrecovered).toBe(0)
  expect(verdict.events).toBeGreaterThan(written)
  const committed = await someNode().sql<Array<{ place: string; id: string }>>`
    select channel || ' ' || "offset" as place, data->>'id' as id from event`
  expect(new Map(committed.map(({ place, id }) => [place, id]))).toEqual(new Map([...sayings].sort()))
  for (const member of crowd) member.stop()
})
