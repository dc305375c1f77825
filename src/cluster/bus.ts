import { Context, Data, Effect, Layer } from "effect"
import { openPeerLink } from "./peer-link.ts"
import type { Invalidation } from "./pending-invalidations.ts"
import { Topics } from "./topics.ts"
import type { Transport } from "./transport.ts"

export interface BusOptions {
  /** Messages through the shared database. Undefined: no other process uses the database, and nothing is sent. */
  readonly transport: Transport | undefined
  /**
   * A faster transport, only for wake-ups. Invalidations always use `transport`: a process that has lost Redis can
   * still write to the database, and could not announce its changes through Redis.
   */
  readonly redisFastPath?: Transport | undefined
  readonly heartbeatMs: number
  readonly leaseMs: number
  /** The database's statement_timeout. */
  readonly statementMs: number
}

export interface BusStats {
  readonly peers: number
  readonly waiting: number
  readonly sent: number
  readonly heard: number
  readonly refused: number
  readonly unreadable: number
  readonly gaps: number
  readonly probations: number
  readonly lost: number
  readonly handlerFailures: number
}

/** The counters of a process without peers. */
export const noStats = {
  peers: 0,
  waiting: 0,
  sent: 0,
  heard: 0,
  refused: 0,
  unreadable: 0,
  gaps: 0,
  probations: 0,
  lost: 0,
}

export class TransportUnreachable extends Data.TaggedError("TransportUnreachable")<{
  readonly cause: unknown
}> {}

export class Bus extends Context.Service<
  Bus,
  {
    /** Must be checked at every use of a cache. False: read the database instead. */
    readonly mayServe: () => boolean
    /**
     * Call it after the commit and before the response. Completes when no process serves the old values of the keys
     * any more.
     */
    readonly invalidate: (topic: string, keys: ReadonlyArray<string>) => Effect.Effect<void>
    /** Handlers must drop the keys synchronously, and discard the results of reads that are still running. */
    readonly onInvalidate: (
      topic: string,
      handler: (keys: ReadonlyArray<string> | "all") => void,
    ) => () => void
    /** Drops all caches of this process, because an invalidation may have been missed. */
    readonly forgetAll: () => void
    /** Wakes the subscribers in all processes. A wake-up may be lost; `onGap` reports when that is possible. */
    readonly publish: (topic: string, payload: string) => void
    /** Wakes the subscribers in the other processes only. */
    readonly wakeOthers: (topic: string, payload: string) => void
    readonly subscribe: (topic: string, handler: (payload: string) => void) => () => void
    /** Registers a handler that is called when wake-ups may have been missed. The handler must read the database. */
    readonly onGap: (handler: () => void) => () => void
    /** Whether the Redis fast path works. */
    readonly isRedisConnected: () => boolean
    readonly stats: () => BusStats
  }
>()("directory/Bus") {
  static readonly layer = (options: BusOptions): Layer.Layer<Bus, TransportUnreachable> =>
    Layer.effect(
      Bus,
      Effect.map(
        Effect.acquireRelease(
          Effect.tryPromise({
            try: () => openBus(options),
            catch: (cause) => new TransportUnreachable({ cause }),
          }),
          (bus) => Effect.promise(bus.close),
        ),
        (bus) => Bus.of(bus.service),
      ),
    )
}

const openBus = async (options: BusOptions) => {
  let handlerFailures = 0
  let isTrusted = true
  const onWakeFailure = (): void => {
    handlerFailures += 1
  }
  const caches = new Topics<ReadonlyArray<string> | "all">(() => {
    // A cache whose handler failed may still hold old values, so this process stops using its caches.
    handlerFailures += 1
    isTrusted = false
  })
  const subscribers = new Topics<string>(onWakeFailure)
  const gaps = new Topics<void>(onWakeFailure)

  const onDrop = (drop: ReadonlyArray<Invalidation> | "all"): void => {
    if (drop === "all") {
      caches.notifyAll("all")
      return
    }
    const keysByTopic = new Map<string, Array<string>>()
    for (const [topic, key] of drop) {
      const keys = keysByTopic.get(topic)
      if (keys === undefined) keysByTopic.set(topic, [key])
      else keys.push(key)
    }
    for (const [topic, keys] of keysByTopic) caches.notify(topic, keys)
  }
  const onWakes = (wakes: ReadonlyArray<Invalidation>): void => {
    for (const [topic, payload] of wakes) subscribers.notify(topic, payload)
  }
  const onGap = (): void => gaps.notifyAll()

  const { transport, redisFastPath, ...times } = options
  const link =
    transport && (await openPeerLink({ ...times, transport, redisFastPath, onDrop, onWakes, onGap }))

  return {
    close: async (): Promise<void> => link?.close(),
    service: Bus.of({
      mayServe: link === undefined ? () => isTrusted : () => isTrusted && link.mayServe(),
      invalidate: (topic, keys) =>
        Effect.suspend(() => {
          caches.notify(topic, keys)
          if (link === undefined || keys.length === 0) return Effect.void
          const pairs = keys.map((key) => [topic, key] as const)
          return Effect.callback<void>((resume) => link.invalidate(pairs, () => resume(Effect.void)))
        }),
      onInvalidate: (topic, handler) => caches.on(topic, handler),
      forgetAll: () => caches.notifyAll("all"),
      publish: (topic, payload) => {
        subscribers.notify(topic, payload)
        link?.wake([topic, payload])
      },
      wakeOthers: (topic, payload) => link?.wake([topic, payload]),
      subscribe: (topic, handler) => subscribers.on(topic, handler),
      onGap: (handler) => gaps.on("", handler),
      isRedisConnected: () => link?.isRedisConnected() ?? false,
      stats: () => ({ ...noStats, ...link?.stats(), handlerFailures }),
    }),
  }
}
