import { Redis } from "ioredis"
import type { Transport } from "./transport.ts"

const MAX_BYTES = 256 * 1024

/**
 * A connection that only receives does not notice that its peer has disappeared, so it sends a ping at this interval.
 */
const pingMs = 2_000

const options = {
  // No caller waits for Redis: a command fails immediately without a connection, and soon on one that hangs.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 400,
  connectTimeout: 1_000,
  socketTimeout: 5_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 500),
  // This file subscribes again itself, to know when the subscription is active.
  autoResubscribe: false,
} as const

/** Publish and subscribe through Redis. `open` does not wait for the server, which may be unavailable at any time. */
export const redisTransport = (
  url: string,
  channel: string,
  /** Called once per reason until the connection works again. */
  onFailure: (reason: string) => void,
): Transport => {
  let publisher: Redis | undefined
  const reported = new Set<string>()
  const report = ({ code, message }: Error & { readonly code?: string }) => {
    const reason = message || (code ?? "unknown reason")
    if (reported.has(reason)) return
    reported.add(reason)
    onFailure(reason)
  }
  const connect = (): Redis => {
    const redis = new Redis(url, options)
    // Without a listener, an error event would end the process.
    redis.on("error", report)
    return redis
  }
  return {
    maxBytes: MAX_BYTES,
    publish: async (messages) => {
      if (publisher === undefined) throw new Error("The Redis transport is not open")
      for (const { payload } of messages) await publisher.publish(channel, payload)
    },
    open: async (_own, { onMessage, onUp }) => {
      const subscriber = connect()
      publisher = connect()
      subscriber.on("message", (_channel, payload) => onMessage(payload))
      subscriber.on("ready", () => {
        subscriber.subscribe(channel).then(
          () => {
            reported.clear()
            onUp()
          },
          (error: Error) => {
            report(error)
            subscriber.disconnect(true)
          },
        )
      })
      const pinger = setInterval(() => void subscriber.ping().catch(() => {}), pingMs)
      return {
        close: async () => {
          clearInterval(pinger)
          subscriber.disconnect()
          publisher?.disconnect()
        },
      }
    },
  }
}

/** Connects once and returns the version of the server. Fails with the reason if it cannot be used. */
export const readRedisVersion = async (url: string): Promise<string> => {
  const redis = new Redis(url, { ...options, lazyConnect: true, retryStrategy: () => null })
  let reason: Error | undefined
  redis.on("error", (error: Error) => {
    reason ??= error
  })
  try {
    await redis.connect()
    return /redis_version:(\S+)/.exec(await redis.info("server"))?.[1] ?? "unknown"
  } catch (error) {
    throw reason ?? error
  } finally {
    redis.disconnect()
  }
}
