import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { Publisher } from "../../actors/ports.ts"
import { EventsToPlace, type Places } from "../../src/turns/event-offsets.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

it("the metric `live_wakeups_repaired_total` counts lost wake-ups, but not late wake-ups", async () => {
  const service = await serve()
  const channel = "emoji_id:🐙"
  const client = await liveSocket(service.url)()
  client.send({ type: "connect" })
  client.send({ type: "subscribe", channel })
  await client.take({ type: "subscribed", channel })
  const commit = async (type: string) => {
    const said = new EventsToPlace([[{ channel, type, data: {} }]])
    const [row] = await service.sql<[{ places: Places }]>`
      select place_said(${said.json}::text::jsonb) as places`
    await client.take({ type: "event", event: type })
    return said.placed(row.places).flat()
  }
  const repaired = async () =>
    /^live_wakeups_repaired_total (\d+)$/m.exec((await service.call("GET", "/metrics")).text)?.[1]

  const publisher = await service.runtime.runPromise(Publisher)
  publisher.moved(await commit("test.late"))
  await commit("test.lost")
  await expect.poll(repaired).toBe("1")
  publisher.moved(await commit("test.late_again"))
  await sleep(2500)
  expect(await repaired()).toBe("1")
})
