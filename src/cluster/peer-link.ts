import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import { InvalidationProtocol } from "./invalidation-protocol.ts"
import { decodeMessage, type Message } from "./message.ts"
import { type Invalidation, PendingInvalidations } from "./pending-invalidations.ts"
import { openRedisFastPath } from "./redis-fast-path.ts"
import type { Transport } from "./transport.ts"

const PENDING_WAKES_MAX = 2_000
/** Room for the members a message still gets after its pairs were counted. */
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

/** Carries the protocol: writes one message at a time, repeats it until it is logged, and gathers the next meanwhile. */
export const openPeerLink = async (options: PeerLinkOptions) => {
  const { transport, heartbeatMs, leaseMs, onWakes, onGap } = options
  const id = randomBytes(9).toString("base64url")
  const coherence = new InvalidationProtocol({ ...options, id, maxBytes: transport.maxBytes })
  const wakes = new PendingInvalidations({ pairs: PENDING_WAKES_MAX, pairBytes: transport.maxBytes / 4 })
  const counts = { sent: 0, heard: 0, refused: 0, unreadable: 0 }
  let isScheduled = false
  let isOpen = false
  let isClosed = false
  let wasDeaf = true
  let sayLeft = (): void => {}
  const left = new Promise<void>((resolve) => {
    sayLeft = () => {
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
    while (!isClosed && (coherence.isDue || !wakes.isEmpty)) {
      sendExpress()
      if (!coherence.isDue && wakes.isEmpty) break
      const message = write()
      const payload = JSON.stringify(message)
      while (!isClosed && !(await attempt(payload))) {
        counts.refused += 1
        await sleep(heartbeatMs / 5)
      }
      counts.sent += 1
      coherence.logged(message.number, performance.now())
      if (message.bye) sayLeft()
    }
    isScheduled = false
  }

  const attempt = (payload: string): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, leaseMs, false)
      const answer = (isLogged: boolean) => {
        clearTimeout(timer)
        resolve(isLogged)
      }
      transport.publish(payload).then(
        () => answer(true),
        () => answer(false),
      )
    })

  const write = (): Message => {
    const message = coherence.write(performance.now())
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

  const sendExpress = (): void => {
    while (
      redisFastPath !== undefined &&
      !wakes.isEmpty &&
      !redisFastPath.isDeaf() &&
      !coherence.someoneIsDeaf
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
    coherence.hear(message, performance.now())
    if (message.from !== id) {
      if (message.wakes !== undefined) onWakes(message.wakes)
      if (message.wakesLost) onGap()
    } else if (redisFastPath !== undefined) {
      // From here on the others use this wire to wake me; what they sent by express since I went deaf is lost.
      if (message.deaf && !wasDeaf) onGap()
      wasDeaf = message.deaf === true
    }
    if (coherence.isDue) schedule()
  }

  const redisFastPath =
    options.redisFastPath &&
    (await openRedisFastPath({ id, transport: options.redisFastPath, heartbeatMs, onWakes, onGap }))
  const onUp = (): void => {
    if (isOpen) coherence.gap()
    isOpen = true
  }
  const { close } = await transport.open({ onMessage, onUp })
  const beat = setInterval(() => {
    coherence.heartbeat(performance.now())
    redisFastPath?.send([], false)
    schedule()
  }, heartbeatMs)
  schedule()

  return {
    mayServe: () => coherence.mayServe(performance.now()),
    invalidate: (pairs: ReadonlyArray<Invalidation>, done: () => void): void => {
      coherence.invalidate(pairs, performance.now(), done)
      if (coherence.isDue) schedule()
    },
    wake: (pair: Invalidation): void => {
      if (coherence.isAlone(performance.now())) return
      wakes.add(pair)
      schedule()
    },
    isRedisConnected: () => redisFastPath !== undefined && !redisFastPath.isDeaf(),
    stats: () => ({ ...counts, ...coherence.counters }),
    close: async (): Promise<void> => {
      // Heartbeats go on, so that whoever still waits for others gets an answer.
      while (coherence.counters.waiting > 0) await sleep(heartbeatMs)
      clearInterval(beat)
      coherence.leave()
      schedule()
      // Without a goodbye the others drop their caches a lease later: not worth waiting longer for.
      await Promise.race([left, sleep(leaseMs)])
      sayLeft()
      await Promise.race([Promise.allSettled([close(), redisFastPath?.close()]), sleep(leaseMs)])
    },
  }
}
