import { Context, Data, Effect, Layer } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import type { Fence } from "../postgres/fence.ts"
import { HeldMarks } from "./held-marks.ts"
import { type MarkedWrite, runInvalidating } from "./invalidating-write.ts"
import type { SendLeaseCall } from "./member-store.ts"
import { type ClusterTimes, openPeerLink } from "./peer-link.ts"
import type { Pair } from "./pending-wakes.ts"
import { Topics } from "./topics.ts"
import type { Transport } from "./transport.ts"

/** Keys by topic. */
export type Changes = Readonly<Record<string, ReadonlyArray<string>>>

export interface BusOptions extends ClusterTimes {
  /** Messages and leases through the shared database. Undefined: no other process uses the database. */
  readonly link:
    | {
        readonly transport: Transport
        readonly call: SendLeaseCall
        /** A faster transport, only for wake-ups. A process that has lost Redis can still write to the database. */
        readonly redisFastPath?: Transport | undefined
        /** A guest writes, but has no caches. */
        readonly isGuest?: boolean
        /** Until when this process must not use its caches, because of processes that do not wait for it. */
        readonly oldReleaseUntil?: () => number
        /** Changes when another server has become the primary. */
        readonly databaseGeneration?: () => number
        /** Called once with the bus. */
        readonly onReady?: (bus: Bus["Service"]) => void
        /** Tells processes that are no members about changes. Called after each write. */
        readonly announce?: (changes: Changes) => Effect.Effect<void>
      }
    | undefined
  /** The database's statement_timeout. */
  readonly statementMs: number
  /** Called with the time that a write has waited for acknowledgements. */
  readonly onWaited?: (ms: number) => void
}

export interface BusStats {
  readonly peers: number
  readonly marks: number
  readonly waiting: number
  /** Writes that waited, and those of them that waited until the lease of a silent process had expired. */
  readonly waits: number
  readonly expired: number
  /** Statements whose fence the database refused. */
  readonly fencesRefused: number
  readonly sent: number
  readonly heard: number
  readonly refused: number
  readonly unreadable: number
  readonly gaps: number
  readonly joins: number
  readonly leasesLost: number
  readonly lost: number
  readonly handlerFailures: number
}

/** The counters of a process without peers. */
export const noStats = {
  peers: 0,
  marks: 0,
  waiting: 0,
  waits: 0,
  expired: 0,
  fencesRefused: 0,
  sent: 0,
  heard: 0,
  refused: 0,
  unreadable: 0,
  gaps: 0,
  joins: 0,
  leasesLost: 0,
  lost: 0,
}

export class TransportUnreachable extends Data.TaggedError("TransportUnreachable")<{
  readonly cause: unknown
}> {}

type Invalidating = <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>

export class Bus extends Context.Service<
  Bus,
  {
    /** Must be checked at every use of a cache. False: read the database instead. */
    readonly mayServe: () => boolean
    /**
     * Whether a write that may change the data of the key is running. Then values that were read must not be cached,
     * and requests must not share running reads.
     */
    readonly isMarked: (topic: string, key: string) => boolean
    /**
     * Runs a statement that changes the data of these keys. No process has old values in its cache when the statement
     * is committed, and none caches them afterwards.
     */
    readonly invalidating: (changes: Changes) => Invalidating
    /** Call it after a commit for keys that were not known before. Completes when no process caches old values. */
    readonly invalidate: (topic: string, keys: ReadonlyArray<string>) => Effect.Effect<void, Unavailable>
    /**
     * Called before and after each change of the keys. Handlers must drop the keys synchronously, and discard the
     * results of reads that are still running.
     */
    readonly onInvalidate: (
      topic: string,
      handler: (keys: ReadonlyArray<string> | "all") => void,
    ) => () => void
    /** Drops the keys from the caches of this process, because their data has changed. */
    readonly forget: (topic: string, keys: ReadonlyArray<string>) => void
    /** Drops all caches of this process, because an invalidation may have been missed. */
    readonly forgetAll: () => void
    /** Wakes the subscribers in all processes. A wake-up may be lost; `onGap` reports when that is possible. */
    readonly publish: (topic: string, payload: string) => void
    /** Wakes the subscribers in this process only. */
    readonly wakeHere: (topic: string, payload: string) => void
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

const toPairs = (changes: Changes): ReadonlyArray<Pair> =>
  Object.entries(changes).flatMap(([topic, keys]) => keys.map((key) => [topic, key] as const))

const silence = new Unavailable({
  error: "Other processes did not acknowledge the change in time. Retry later.",
  retryAfterSeconds: 1,
})

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

  const onDrop = (drop: ReadonlyArray<Pair> | "all"): void => {
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
  const onWakes = (wakes: ReadonlyArray<Pair>): void => {
    for (const [topic, payload] of wakes) subscribers.notify(topic, payload)
  }
  const onGap = (): void => gaps.notifyAll()

  const { link: linkOptions, statementMs, onWaited = () => {}, ...times } = options
  const link =
    linkOptions &&
    (await openPeerLink({
      ...times,
      redisFastPath: undefined,
      isGuest: false,
      oldReleaseUntil: () => Number.NEGATIVE_INFINITY,
      databaseGeneration: () => 0,
      ...linkOptions,
      onDrop,
      onWakes,
      onGap,
      onWaited,
    }))

  const marks = link?.member.marks ?? new HeldMarks(onDrop)
  let nextMark = 1
  /** Without peers, only this process has caches. Nothing is sent, and the statement is not fenced. */
  const openAlone = (pairs: ReadonlyArray<Pair>): MarkedWrite => {
    const mark = { from: "", number: nextMark++, deadline: 0, pairs }
    marks.hold(mark)
    return {
      acknowledged: Effect.undefined,
      refused: () => {},
      end: (isKnown) => {
        if (isKnown) marks.release(mark)
        else setTimeout(() => marks.release(mark), statementMs).unref()
      },
    }
  }
  const openLinked = (
    { member, schedule }: NonNullable<typeof link>,
    pairs: ReadonlyArray<Pair>,
    isCommitted: boolean,
  ): MarkedWrite => {
    const write = member.open(pairs, performance.now(), isCommitted)
    return {
      acknowledged: Effect.callback<Fence, Unavailable>((resume) => {
        member.whenAcknowledged(write, performance.now(), (fence) => resume(Effect.succeed(fence)))
        schedule()
      }).pipe(
        // Longer than any lease, so this happens only if the database does not answer.
        Effect.timeoutOrElse({ duration: 4 * times.leaseMs, orElse: () => Effect.fail(silence) }),
      ),
      refused: (silent, wasLost) => {
        member.refused(write, silent, wasLost, performance.now())
      },
      end: (isKnown) => {
        member.end(write, isKnown)
        schedule()
      },
    }
  }
  const open =
    (changes: Changes, isCommitted = false) =>
    () =>
      link === undefined ? openAlone(toPairs(changes)) : openLinked(link, toPairs(changes), isCommitted)
  const announce = linkOptions?.announce ?? (() => Effect.void)
  const isEmpty = (changes: Changes) => Object.values(changes).every((keys) => keys.length === 0)

  const service = Bus.of({
    mayServe: link === undefined ? () => isTrusted : () => isTrusted && link.mayServe(),
    isMarked: (topic, key) => marks.isMarked(topic, key),
    invalidating: (changes) => (statement) =>
      isEmpty(changes)
        ? statement
        : Effect.ensuring(
            runInvalidating(open(changes), statement),
            Effect.suspend(() => announce(changes)),
          ),
    invalidate: (topic, keys) =>
      Effect.suspend(() => {
        if (keys.length === 0) return Effect.void
        const write = open({ [topic]: keys }, true)()
        return Effect.asVoid(write.acknowledged).pipe(
          Effect.ensuring(Effect.sync(() => write.end(true))),
          Effect.andThen(announce({ [topic]: keys })),
        )
      }),
    onInvalidate: (topic, handler) => caches.on(topic, handler),
    forget: (topic, keys) => caches.notify(topic, keys),
    forgetAll: () => caches.notifyAll("all"),
    publish: (topic, payload) => {
      subscribers.notify(topic, payload)
      link?.wake([topic, payload])
    },
    wakeHere: (topic, payload) => subscribers.notify(topic, payload),
    wakeOthers: (topic, payload) => link?.wake([topic, payload]),
    subscribe: (topic, handler) => subscribers.on(topic, handler),
    onGap: (handler) => gaps.on("", handler),
    isRedisConnected: () => link?.isRedisConnected() ?? false,
    stats: () => ({ ...noStats, marks: marks.size, ...link?.stats(), handlerFailures }),
  })
  linkOptions?.onReady?.(service)
  return { close: async (): Promise<void> => link?.close(), service }
}
