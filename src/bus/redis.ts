import { Redis } from "ioredis"
import type { Wire } from "./wire.ts"

const MAX_BYTES = 256 * 1024

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

const connect = (url: string): Redis => {
  const redis = new Redis(url, options)
  // An outage shows as failing commands and as silence; without a listener it would end the process.
  redis.on("error", () => {})
  return redis
}

/** Publish and subscribe. Opening does not wait for the server: it may come later, go and come back. */
export const redisWire = (url: string, channel: string): Wire => {
  let publisher: Redis | undefined
  return {
    maxBytes: MAX_BYTES,
    publish: async (payload) => {
      if (publisher === undefined) throw new Error("The Redis wire is not open")
      await publisher.publish(channel, payload)
    },
    open: async ({ onMessage, onUp }) => {
      const subscriber = connect(url)
      publisher = connect(url)
      subscriber.on("message", (_channel, payload) => onMessage(payload))
      subscriber.on("ready", () => {
        subscriber.subscribe(channel).then(onUp, () => subscriber.disconnect(true))
      })
      return {
        close: async () => {
          subscriber.disconnect()
          publisher?.disconnect()
        },
      }
    },
  }
}
