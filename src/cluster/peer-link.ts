import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import { InvalidationProtocol } from "./invalidation-protocol.ts"
import { decodeMessage, type Message } from "./message.ts"
import { type Invalidation, PendingInvalidations } from "./pending-invalidations.ts"
import { openRedisFastPath } from "./redis-fast-path.ts"
import type { Transport } from "./transport.ts"

const PENDING_WAKES_MAX = 2_000
/** Bytes of a message that are reserved for the names of its last members. Wake-ups may use only the rest. */
const TAIL_BYTES = 80

export interface PeerLinkOptions {
  readonly transport: Transport
  readonly redisFastPath: Transport | undefined
  readonly heartbeatMs: number
  readonly leaseMs: number
  readonly statementMs: number
  readonly onDrop: (drop: ReadonlyArray<Invalidation> | "all") => void
  readonly onWakes: (wakes: ReadonlyArray<Invalidation>) => void
  readonly onGap: () => void
}

/** Runs the invalidation protocol over a transport. Sends one message at a time and repeats it until it is logged. */
export const openPeerLink = async (options: PeerLinkOptions) => {
  const { transport, heartbeatMs, leaseMs, onWakes, onGap } = options
  const id = randomBytes(9).toString("base64url")
  const protocol = new InvalidationProtocol({ ...options, id, maxBytes: transport.maxBytes })
  const wakes = new PendingInvalidations({ pairs: PENDING_WAKES_MAX, pairBytes: transport.maxBytes / 4 })
  const counts = { sent: 0, heard: 0, refused: 0, unreadable: 0 }
  let isScheduled = false
  let isOpen = false
  let isClosed = false
  let wasDeaf = true
  let resolveLeft = (): void => {}
  const left = new Promise<void>((resolve) => {
    resolveLeft = () => {
      isClosed = true
      resolve()
    }
  })

  const schedule = (): void => {
    if (isScheduled || isClosed) return
    isScheduled = true
    setImmediate(pump)
  }

  const pump = async (): Promise<void> => {
    while (!isClosed && (protocol.isDue || !wakes.isEmpty)) {
      sendThroughRedis()
      if (!protocol.isDue && wakes.isEmpty) break
      const message = write()
      const payload = JSON.stringify(message)
      while (!isClosed && !(await attempt(payload))) {
        counts.refused += 1
        await sleep(heartbeatMs / 5)
      }
      counts.sent += 1
      protocol.logged(message.number, performance.now())
      if (message.bye) resolveLeft()
    }
    isScheduled = false
  }

  const attempt = (payload: string): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, leaseMs, false)
      const finish = (isLogged: boolean) => {
        clearTimeout(timer)
        resolve(isLogged)
      }
      transport.publish(payload).then(
        () => finish(true),
        () => finish(false),
      )
    })

  const write = (): Message => {
    const message = protocol.write(performance.now())
    const { pairs, forgot } = wakes.take(
      transport.maxBytes - Buffer.byteLength(JSON.stringify(message)) - TAIL_BYTES,
    )
    return {
      ...message,
      ...(pairs.length > 0 ? { wakes: pairs } : {}),
      ...(forgot ? { wakesLost: true } : {}),
      ...(redisFastPath?.isDeaf() === false ? {} : { deaf: true }),
    }
  }

  const sendThroughRedis = (): void => {
    while (
      redisFastPath !== undefined &&
      !wakes.isEmpty &&
      !redisFastPath.isDeaf() &&
      !protocol.someoneIsDeaf
    ) {
      const { pairs, forgot } = wakes.take(redisFastPath.maxBytes)
      redisFastPath.send(pairs, forgot).then((isSent) => {
        if (isSent) return
        if (forgot) wakes.forget()
        for (const pair of pairs) wakes.add(pair)
        schedule()
      })
    }
  }

  const onMessage = (payload: string): void => {
    if (isClosed) return
    const message = Option.getOrUndefined(decodeMessage(payload))
    if (message === undefined) {
      counts.unreadable += 1
      return
    }
    counts.heard += 1
    protocol.receive(message, performance.now())
    if (message.from !== id) {
      if (message.wakes !== undefined) onWakes(message.wakes)
      if (message.wakesLost) onGap()
    } else if (redisFastPath !== undefined) {
      // This process has received its own message that it is deaf: it receives nothing through Redis. From now on the
      // other processes send wake-ups through the database. Earlier wake-ups may be lost, so a gap is reported.
      if (message.deaf && !wasDeaf) onGap()
      wasDeaf = message.deaf === true
    }
    if (protocol.isDue) schedule()
  }

  const redisFastPath =
    options.redisFastPath &&
    (await openRedisFastPath({ id, transport: options.redisFastPath, heartbeatMs, onWakes, onGap }))
  const onUp = (): void => {
    if (isOpen) protocol.gap()
    isOpen = true
  }
  const { close } = await transport.open({ onMessage, onUp })
  const beat = setInterval(() => {
    protocol.heartbeat(performance.now())
    redisFastPath?.send([], false)
    schedule()
  }, heartbeatMs)
  schedule()

  return {
    mayServe: () => protocol.mayServe(performance.now()),
    invalidate: (pairs: ReadonlyArray<Invalidation>, done: () => void): void => {
      protocol.invalidate(pairs, performance.now(), done)
      if (protocol.isDue) schedule()
    },
    wake: (pair: Invalidation): void => {
      if (protocol.isAlone(performance.now())) return
      wakes.add(pair)
      schedule()
    },
    isRedisConnected: () => redisFastPath !== undefined && !redisFastPath.isDeaf(),
    stats: () => ({ ...counts, ...protocol.counters }),
    close: async (): Promise<void> => {
      // Heartbeats continue until pending invalidations are acknowledged.
      while (protocol.counters.waiting > 0) await sleep(heartbeatMs)
      clearInterval(beat)
      protocol.leave()
      schedule()
      // Wait at most one lease until the last message (`bye`) is stored. Without it, the other processes notice the
      // silence after about one lease and drop their caches, so a longer wait is not needed.
      await Promise.race([left, sleep(leaseMs)])
      resolveLeft()
      await Promise.race([Promise.allSettled([close(), redisFastPath?.close()]), sleep(leaseMs)])
    },
  }
}
