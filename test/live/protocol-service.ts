import { randomUUID } from "node:crypto"
import { Publisher } from "../../actors/ports.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { EventsToPlace, type Places } from "../../src/turns/event-offsets.ts"
import { type LiveClient, liveSocket, memoryLive } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

export const transports = ["memory", "uWebSockets.js"] as const
export type Transport = (typeof transports)[number]

/** A service with live clients, over real sockets or in memory. */
export const serveProtocol = async () => {
  const service = await serve({ ALLOWED_ORIGINS: "https://wallet.example" })
  const publisher = await service.runtime.runPromise(Publisher)
  const tokens = await service.runtime.runPromise(Tokens)
  const callers = await service.runtime.runPromise(CallerCache)
  const openers = { memory: await memoryLive(service.runtime), "uWebSockets.js": liveSocket(service.url) }

  /** Commits events as a turn would, and wakes the subscribers. */
  const commit = async (...events: ReadonlyArray<{ channel: string; type: string; data: unknown }>) => {
    const said = new EventsToPlace([events])
    const [row] = await service.sql<[{ places: Places }]>`
      select place_said(${said.json}::text::jsonb) as places`
    publisher.committed(said.placed(row.places).flat())
  }
  const signed = (
    userId: string,
    facts: { readonly kind: "access" | "pending"; readonly ttlSeconds: number },
  ) => service.runtime.runPromise(tokens.sign({ sub: userId, sid: randomUUID(), ep: 0, role: "User" }, facts))

  return {
    service,
    callers,
    commit,
    signed,
    emit: (channel: string, n: number) => commit({ channel, type: "test.happened", data: { n } }),
    over: (transport: Transport) => {
      const connect = openers[transport]
      return {
        connect,
        open: async (token?: string): Promise<LiveClient> => {
          const client = await connect()
          client.send({ type: "connect", ...(token === undefined ? {} : { token }) })
          await client.take({ type: "connected" })
          return client
        },
      }
    },
  }
}

export const joined = async (
  client: LiveClient,
  channel: string,
  after?: { epoch: string; offset: number },
) => {
  client.send({ type: "subscribe", channel, ...after })
  return client.take({ type: "subscribed", channel })
}

export const numbers = (client: LiveClient, channel: string) =>
  client.frames.filter((f) => f.type === "event" && f.channel === channel).map((f) => f.data.n)
