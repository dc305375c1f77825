import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { createClient } from "../../src/client/client.ts"
import { serve } from "../fixtures/service.ts"

it("the client calls `refused` for a rejected channel, even if the channel name was requested in uppercase", async () => {
  const service = await serve()
  const { token } = await service.user()
  const client = createClient({ baseUrl: service.url, WebSocket, token })
  const refusals: Array<string> = []
  client.live.subscribe(`order:${randomUUID().toUpperCase()}`, {
    state: () => {},
    event: () => {},
    refused: (code) => void refusals.push(code),
  })
  await expect.poll(() => refusals.length).toBeGreaterThan(0)
  client.live.close()
  expect(refusals).toEqual(["not_found"])
})
