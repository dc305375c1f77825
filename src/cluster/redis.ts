import { Redis } from "ioredis"
import type { Transport } from "./transport.ts"

const MAX_BYTES = 256 * 1024

/** Who only listens never learns that a host or a gateway has vanished: so it asks, and is not answered in time. */
const askEveryMs = 2_000

const options = {
  // Nothing waits for Redis: a command fails at once without a connection, and soon on one that hangs.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 400,
  connectTimeout: 1_000,
  socketTimeout: 5_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 500),
  // Subscribing again is done here, to know when it has been done.
  autoResubscribe: false,
} as const

/** Publish and subscribe. Opening does not wait for the server: it may come later, go and come back. */
export const redisTransport = (
  url: string,
  channel: string,
  /** Told each reason once until it has been up again. */
  onTrouble: (reason: string) => void,
): Transport => {
  let publisher: Redis | undefined
  const told = new Set<string>()
  const tell = ({ code, message }: Error & { readonly code?: string }) => {
    const reason = message || (code ?? "no reason given")
    if (told.has(reason)) return
    told.add(reason)
    onTrouble(reason)
  }
  const connect = (): Redis => {
    const redis = new Redis(url, options)
    // An outage shows as failing commands and as silence; without a listener it would end the process.
    redis.on("error", tell)
    return redis
  }
  return {
    maxBytes: MAX_BYTES,
    publish: async (payload) => {
      if (publisher === undefined) throw new Error("The Redis wire is not open")
      await publisher.publish(channel, payload)
    },
    open: async ({ onMessage, onUp }) => {
      const subscriber = connect()
      publisher = connect()
      subscriber.on("message", (_channel, payload) => onMessage(payload))
      subscriber.on("ready", () => {
        subscriber.subscribe(channel).then(
          () => {
            told.clear()
            onUp()
          },
          (error: Error) => {
            tell(error)
            subscriber.disconnect(true)
          },
        )
      })
      const asking = setInterval(() => void subscriber.ping().catch(() => {}), askEveryMs)
      return {
        close: async () => {
          clearInterval(asking)
          subscriber.disconnect()
          publisher?.disconnect()
        },
      }
    },
  }
}
