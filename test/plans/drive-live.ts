import { randomUUID } from "node:crypto"
import { targetOfUrl } from "../../bench/load/request.ts"
import { entityIdAt } from "../../bench/stored/entities.ts"
import { canonicalAt } from "../../bench/stored/ids.ts"
import { tokensFor } from "../../bench/stored/people.ts"
import { channelKinds } from "../../src/live/channel-names.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import type { Steps } from "./drive.ts"
import type { DrivenService } from "./driven-service.ts"

const n = 13
const keys: Readonly<Record<string, string>> = {
  emoji_id: `:${canonicalAt(n)}`,
  order: `:${entityIdAt(n)}`,
  transfer: `:${entityIdAt(n)}`,
}

/** Subscribes to every kind of channel, once from the current state and once from a position, and looks up an id. */
export const driveLive = async (driven: DrivenService, steps: Steps): Promise<void> => {
  const { service, target } = driven
  const server = { ...target, target: targetOfUrl("service", new URL(service.url)), stop: async () => {} }
  const [token] = await tokensFor(server, [n])
  const client = await liveSocket(service.url)()
  client.send({ type: "connect", token })
  await client.take({ type: "connected" })
  for (const kind of Object.keys(channelKinds)) {
    const channel = `${kind}${keys[kind] ?? ""}`
    for (const position of [{}, { epoch: randomUUID(), offset: 0 }]) {
      client.send({ type: "subscribe", channel, ...position })
      await client.take({ type: "subscribed", channel })
      client.send({ type: "unsubscribe", channel })
      await client.take({ type: "unsubscribed", channel })
    }
    steps.ended(`a subscription of ${channel}`)
  }
  client.send({ type: "lookup", id: "1", emoji_ids: [canonicalAt(n)] })
  await client.take({ type: "records" })
  client.close()
  steps.ended("a lookup on a live socket")
}
