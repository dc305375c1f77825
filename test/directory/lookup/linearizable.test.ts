import { Effect } from "effect"
import { beforeAll, expect, it, vi } from "vitest"
import { Bus } from "../../../src/cluster/bus.ts"
import { Lookups } from "../../../src/directory/lookup/lookups.ts"
import type { TestUser } from "../../fixtures/service.ts"
import { patiently } from "../../fixtures/suite/patience.ts"
import { startWorker } from "../../fixtures/worker.ts"
import { type DirectoryService, serveDirectory } from "../directory-service.ts"

/** These tests run three processes with one database. */

let services: ReadonlyArray<DirectoryService>
let owner: TestUser
const ids = ["🐙🐙", "🐙🐶", "🐙🍕"]
beforeAll(async () => {
  const first = await serveDirectory({}, { peersPossible: true })
  const beside = { database: first.database, peersPossible: true }
  services = [first, await serveDirectory({}, beside), await serveDirectory({}, beside)]
  owner = await first.user()
  for (const id of ids) await first.register(id, owner)
})

const lookedUp = async (service: DirectoryService, id: string) => {
  const { body, status } = await service.lookup(id)
  expect(status).toBe(200)
  const nick = body.result.find(({ tag }: { readonly tag: string }) => tag === "0x0005")
  return Number(nick?.data.replace("nick ", "") ?? -1)
}
const statsOf = (service: DirectoryService) =>
  service.runtime.runPromise(
    Effect.gen(function* () {
      const bus = yield* Bus
      const lookups = yield* Lookups
      return { ids: lookups.stats().ids, mayServe: bus.mayServe(), ...bus.stats() }
    }),
  )

it("no lookup in any process returns an older version than an earlier lookup in any process", async () => {
  const seen = new Map<string, number>()
  let isOver = false
  let lookups = 0
  const readers = services.flatMap((service) =>
    ids.map(async (id) => {
      while (!isOver) {
        const atLeast = seen.get(id) ?? -1
        const version = await lookedUp(service, id)
        expect(version).toBeGreaterThanOrEqual(atLeast)
        seen.set(id, Math.max(version, seen.get(id) ?? -1))
        lookups++
      }
    }),
  )
  await Promise.all(
    ids.map(async (id) => {
      for (let n = 0; n < 40; n++) {
        const writer = services[n % services.length]!
        const data = `nick ${n}`
        const answer = await writer.edit(id, owner, { insert: [{ tag: "0x0005", data }] })
        expect(answer.status).toBe(200)
        seen.set(id, Math.max(n, seen.get(id) ?? -1))
      }
    }),
  )
  isOver = true
  await Promise.all(readers)
  expect(lookups).toBeGreaterThan(200)
})

it.each(["stops", "is killed"])(
  "the lookup caches of the other processes stay as they are when a process %s",
  async (end) => {
    const [one, other] = services as [DirectoryService, DirectoryService]
    const leaving = await startWorker(one.database)
    const fill = async (service: DirectoryService) => {
      for (const id of ids) await lookedUp(service, id)
      return statsOf(service)
    }
    await vi.waitUntil(
      async () => (await statsOf(one)).peers === 3 && (await statsOf(other)).peers === 3,
      patiently,
    )
    await vi.waitUntil(async () => (await fill(other)).ids === ids.length, patiently)
    const before = await statsOf(other)
    if (end === "stops") await leaving.stop()
    else await leaving.kill()
    await vi.waitUntil(async () => (await statsOf(other)).peers === 2, patiently)
    const after = await statsOf(other)
    // On a busy machine a process may lose its own lease. Then it clears its caches for this reason.
    if (after.leasesLost === before.leasesLost) expect(after.ids).toBe(before.ids)
    expect((await one.edit(ids[0]!, owner, { insert: [{ tag: "0x0005", data: end }] })).status).toBe(200)
  },
)
