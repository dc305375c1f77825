import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Option } from "effect"
import { Member, type MemberOptions } from "./invalidation-protocol.ts"
import type { LeaseCall } from "./lease.ts"
import type { SendLeaseCall } from "./member-store.ts"
import { decodeMessage, type Message } from "./message.ts"
import { type Pair, PendingWakes } from "./pending-wakes.ts"
import { openRedisFastPath } from "./redis-fast-path.ts"
import type { Sent, Transport } from "./transport.ts"

const PENDING_WAKES_MAX = 2_000
/** Room in a message for its sender and its flags. */
const HEAD_BYTES = 100
const MAX_ACKS = 500
/** Marks that are done wait this long for another message that takes them along: every message wakes all processes. */
const doneWaitMs = 250
/** How often the process looks whether its lease, or a write that waits, needs something. */
const tickMs = 50

export interface ClusterTimes {
  readonly leaseMs: number
  readonly renewMs: number
  readonly markMs: number
}

export interface PeerLinkOptions
  extends ClusterTimes,
    Pick<
      MemberOptions,
      "onDrop" | "onGap" | "onWaited" | "isGuest" | "oldReleaseUntil" | "databaseGeneration"
    > {
  readonly transport: Transport
  readonly call: SendLeaseCall
  readonly redisFastPath: Transport | undefined
  readonly onWakes: (wakes: ReadonlyArray<Pair>) => void
}

/** Resolves to undefined if the promise is rejected or takes too long. */
const within = <A>(ms: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([promise.catch(() => undefined), late]).finally(() => clearTimeout(timer))
}

/** Runs the protocol of a member over a transport. Sends one statement with messages at a time. */
export const openPeerLink = async (options: PeerLinkOptions) => {
  const { call, isGuest, leaseMs, onGap, onWakes, renewMs, transport } = options
  const id = randomBytes(9).toString("base64url")
  const member = new Member({ ...options, id, random: Math.random })
  const wakes = new PendingWakes({ pairs: PENDING_WAKES_MAX, pairBytes: transport.maxBytes / 4 })
  const counts = { sent: 0, heard: 0, refused: 0, unreadable: 0, gaps: 0 }
  let isPumping = false
  let isCalling = false
  let isOpen = false
  let isClosed = false
  let isLeaving = false
  let doneTimer: NodeJS.Timeout | undefined
  /** What the other processes know: whether this process receives nothing through Redis. */
  let wasDeaf = false
  const isDeaf = () => redisFastPath?.isDeaf() !== false

  const schedule = (): void => {
    if (member.hasDone && doneTimer === undefined && !isClosed) {
      doneTimer = setTimeout(() => {
        doneTimer = undefined
        start()
      }, doneWaitMs)
    }
    if (member.isDue || !wakes.isEmpty) start()
  }
  const start = (): void => {
    if (isPumping || isClosed) return
    isPumping = true
    setImmediate(() => void pump())
  }

  const take = (): ReadonlyArray<Sent> => {
    const deaf = isDeaf()
    const head = { from: id, ...(deaf && !isGuest ? { deaf: true as const } : {}) }
    const messages = member.takeDirect(MAX_ACKS, transport.maxBytes - HEAD_BYTES).map(
      ([to, content]): Sent => ({
        to,
        payload: JSON.stringify({ from: id, ...content } satisfies Message),
      }),
    )
    const content = member.takeBroadcast(transport.maxBytes - HEAD_BYTES)
    const used = content === undefined ? 0 : Buffer.byteLength(JSON.stringify(content))
    const { forgot, pairs } = wakes.take(transport.maxBytes - HEAD_BYTES - used)
    const turnsDeaf = redisFastPath !== undefined && deaf !== wasDeaf
    wasDeaf = deaf
    if (content === undefined && pairs.length === 0 && !forgot && !turnsDeaf) return messages
    const message: Message = {
      ...head,
      ...content,
      ...(pairs.length > 0 ? { wakes: pairs } : {}),
      ...(forgot ? { wakesLost: true } : {}),
    }
    messages.push({ payload: JSON.stringify(message) })
    return messages
  }

  const pump = async (): Promise<void> => {
    do {
      sendThroughRedis()
      const messages = take()
      if (messages.length === 0) break
      const sent = () =>
        within(
          leaseMs,
          transport.publish(messages).then(() => true),
        )
      while (!isClosed && !(await sent())) {
        counts.refused += 1
        await sleep(tickMs)
      }
      counts.sent += messages.length
    } while (!isClosed && (member.isDue || !wakes.isEmpty))
    isPumping = false
  }

  const sendThroughRedis = (): void => {
    while (
      redisFastPath !== undefined &&
      !wakes.isEmpty &&
      !redisFastPath.isDeaf() &&
      !member.someoneIsDeaf(performance.now())
    ) {
      const { forgot, pairs } = wakes.take(redisFastPath.maxBytes)
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
    member.receive(message, performance.now())
    if (message.from !== id) {
      if (message.wakes !== undefined) onWakes(message.wakes)
      if (message.wakesLost) onGap()
    } else if (message.deaf && redisFastPath !== undefined && message.echo === undefined) {
      // The other processes know now that they must send wake-ups through the database. Earlier ones may be lost.
      onGap()
    }
    schedule()
  }

  const send = async (kind: LeaseCall): Promise<void> => {
    isCalling = true
    member.sending(kind, performance.now())
    const view = await within(
      leaseMs,
      call(kind, {
        id,
        leaseMs,
        deaf: isDeaf(),
        openFrom: member.openFrom,
        joined: member.lease.joinNumber,
        held: member.marks.unannounced,
      }),
    )
    isCalling = false
    if (view !== undefined && kind !== "leave") member.answered(kind, view, performance.now())
    schedule()
  }
  const callIfDue = (): void => {
    const kind = isCalling || isClosed ? undefined : member.lease.next(performance.now())
    if (kind !== undefined) void send(kind)
  }

  const redisFastPath =
    options.redisFastPath &&
    (await openRedisFastPath({
      id,
      transport: options.redisFastPath,
      heartbeatMs: renewMs / 2,
      onWakes,
      onGap,
    }))
  const onUp = (): void => {
    if (isOpen) {
      counts.gaps += 1
      onGap()
    }
    isOpen = true
    member.listens()
    schedule()
  }
  const { close } = await transport.open(id, {
    onMessage: (payload) => {
      onMessage(payload)
      callIfDue()
    },
    onUp,
  })
  let ticks = 0
  const ticker = setInterval(() => {
    const now = performance.now()
    member.settle(now)
    callIfDue()
    if (ticks++ % Math.max(1, Math.round(renewMs / 2 / tickMs)) === 0) redisFastPath?.send([], false)
    if (redisFastPath !== undefined && isDeaf() !== wasDeaf) start()
    schedule()
  }, tickMs)
  await send("watch")

  return {
    id,
    mayServe: () => member.lease.isValid(performance.now()),
    member,
    /** Must be called after the member was used. */
    schedule,
    wake: (pair: Pair): void => {
      if (member.peers(performance.now()) === 0 && member.lease.isValid(performance.now())) return
      wakes.add(pair)
      schedule()
    },
    isRedisConnected: () => redisFastPath !== undefined && !redisFastPath.isDeaf(),
    stats: () => ({ ...counts, ...member.counters, peers: member.peers(performance.now()) }),
    close: async (): Promise<void> => {
      while (member.counters.writes > 0) await sleep(tickMs)
      if (isLeaving) return
      isLeaving = true
      member.lease.leave()
      // A join that runs later than the deletion would put the row back.
      while (isCalling) await sleep(tickMs)
      if (!isGuest) {
        // The row is deleted first: after the farewell, others write without an acknowledgement of this process.
        await send("leave")
        const farewell = { from: id, bye: true, done: [] } satisfies Message
        await within(leaseMs, transport.publish([{ payload: JSON.stringify(farewell) }]))
      }
      clearInterval(ticker)
      clearTimeout(doneTimer)
      isClosed = true
      await within(leaseMs, Promise.allSettled([close(), redisFastPath?.close()]))
    },
  }
}
