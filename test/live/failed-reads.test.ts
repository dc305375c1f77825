import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

it("two subscribers of a channel both get `subscribed` although the first read of the channel fails", async () => {
  const service = await serve()
  const connect = liveSocket(service.url)
  const [first, second] = [await connect(), await connect()]
  for (const client of [first, second]) client.send({ type: "connect" })
  await service.sql`alter function live_lookup(text) rename to live_lookup_away`
  first.send({ type: "subscribe", channel: "emoji_id:🐙" })
  await sleep(500)
  await service.sql`alter function live_lookup_away(text) rename to live_lookup`
  second.send({ type: "subscribe", channel: "emoji_id:🐙" })
  for (const client of [second, first])
    expect(await client.take({ type: "subscribed", channel: "emoji_id:🐙" })).toMatchObject({
      recovered: false,
    })
})
