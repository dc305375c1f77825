import { Effect } from "effect"
import { expect, it } from "vitest"
import { OversizedChannels } from "../../src/live/oversized-channels.ts"
import { Events } from "../../src/turns/event-store.ts"
import { serve } from "../fixtures/service.ts"
import { freshId, newShopper } from "../orders/shopper.ts"

const keep = 3

it("a channel with more events than the limit is reported once, and trimmed to its newest events", async () => {
  const service = await serve({ EVENT_KEEP_PER_CHANNEL: String(keep) })
  const takeCrowded = () =>
    service.runtime.runPromise(OversizedChannels.use((channels) => Effect.sync(() => channels.take())))
  const [busy, quiet] = [await newShopper(service), await newShopper(service)]
  const own = `cart:${busy.id}`
  for (let n = 0; n < keep; n++) await busy.add(freshId())
  await quiet.add(freshId())
  expect(await takeCrowded()).toEqual([])
  for (let n = 0; n < 2; n++) await busy.add(freshId())
  const names = await takeCrowded()
  expect(names).toContain(own)
  expect(names.filter((name) => name.startsWith("cart:"))).toEqual([own])
  expect(await takeCrowded()).toEqual([])
  await service.runtime.runPromise(Events.use((events) => events.trimChannels(names, keep, 100)))
  const kept = await service.sql`select "offset" from event where channel = ${own} order by 1`
  expect(kept.map(({ offset }) => offset)).toEqual([3, 4, 5])
})

it("a channel with more events than the limit is also reported if edits of an id's records added the events", async () => {
  const service = await serve({ EVENT_KEEP_PER_CHANNEL: "1" })
  const owner = await newShopper(service)
  const id = freshId()
  await service.sql`insert into claim (canonical, kind, holder, owner_id) values (${id}, 'owned', ${owner.id}, ${owner.id})`
  await service.sql`insert into emoji_id (canonical, owner_id, source) values (${id}, ${owner.id}, 'test')`
  for (const data of ["https://one.example", "https://two.example"])
    await owner.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, { insert: [{ tag: "0x4001", data }] })
  const names = await service.runtime.runPromise(
    OversizedChannels.use((channels) => Effect.sync(() => channels.take())),
  )
  expect(names).toContain(`emoji_id:${id}`)
})
