import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { NodeSocket } from "../../src/client/node-socket.ts"
import { serve } from "../fixtures/service.ts"

it("a channel that is not theirs is refused to the client in the spelling it asked for", async () => {
  const service = await serve()
  const { token } = await service.user()
  const client = createClient({ baseUrl: service.url, WebSocket: NodeSocket, token })
  const refusals: Array<string> = []
  client.live.subscribe(`order:${randomUUID().toUpperCase()}`, {
    state: () => {},
    event: () => {},
    refused: (code) => void refusals.push(code),
  })
  for (let tries = 0; tries < 80 && refusals.length === 0; tries++) await sleep(25)
  client.live.close()
  expect(refusals).toEqual(["not_found"])
}, 20_000)
