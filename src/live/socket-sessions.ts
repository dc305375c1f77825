import { Context, Effect, Layer } from "effect"
import { Bus } from "../cluster/bus.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { Metrics } from "../telemetry/metrics.ts"
import type { Publish } from "./channel-registry.ts"
import { Hub } from "./hub.ts"
import type { Sink } from "./protocol.ts"
import { makeIdentify, recheckWhenChanged } from "./socket-identity.ts"
import { LiveLookups } from "./socket-lookup-store.ts"
import { LiveSession, type SessionPorts } from "./socket-session.ts"

/** Looks at every socket: who did not say hello, whose token ran out. */
const sweepMs = 250
/** At every so-manieth sweep also: who does not read. That is asked of the transport, socket by socket. */
const slowEverySweeps = 4
/** A socket with more than this unsent is cut off; it comes back and resumes. */
const slowAboveBytes = 256 * 1024
/** But for one that reads as much from one look to the next: cut off, it could never read a state that is larger. */
const leastReadBytes = 16 * 1024
/** While others may have changed users without a word, everybody is asked about again this often. */
const doubtMs = 1000
/** A key may have an end that nobody announces. */
const keyRecheckMs = 30_000
const rechecksAtOnce = 4
const drainStepMs = 50

export interface Drain {
  readonly withinMs: number
}

/** All sockets of this process. */
export class LiveSessions extends Context.Service<
  LiveSessions,
  {
    open(sink: Sink): LiveSession
    attach(publish: Publish): () => void
    count(): number
    /** A frame did not fit into what its socket may hold unsent; the socket is being closed for it. */
    isSlow(session: LiveSession): void
    /** Tells the sockets to come back elsewhere, some at a time, so that they do not all come at once. */
    drain(options: Drain): Promise<void>
  }
>()("directory/LiveSessions") {
  static readonly layer = Layer.effect(
    LiveSessions,
    Effect.gen(function* () {
      const bus = yield* Bus
      const clock = yield* DatabaseClock
      const hub = yield* Hub
      const metrics = yield* Metrics
      const identifying = recheckWhenChanged(yield* makeIdentify)
      const directory = yield* LiveLookups
      const fork = Effect.runForkWith(yield* Effect.context<never>())

      const sessions = new Set<LiveSession>()
      const byUser = new Map<string, Set<LiveSession>>()
      const slow = new WeakSet<LiveSession>()
      let slowCut = 0
      const isSlow = (session: LiveSession): void => {
        if (slow.has(session)) return
        slow.add(session)
        slowCut++
      }
      let listenedMs = 0
      let sweptAt = performance.now()
      let opened = 0

      const ports: SessionPorts = {
        hub,
        directory,
        identify: identifying.ask,
        now: () => clock.now(),
        listenedMs: () => listenedMs,
        run: (effect, done) => void fork(effect).addObserver(done),
        identified: (session, userId) => {
          byUser.set(userId, (byUser.get(userId) ?? new Set()).add(session))
        },
        ended: (session, userId) => {
          sessions.delete(session)
          if (userId === undefined) return
          const theirs = byUser.get(userId)
          theirs?.delete(session)
          if (theirs?.size === 0) byUser.delete(userId)
        },
      }

      const doubted = new Set<LiveSession>()
      /** Could not be asked about: the database may have been away for this one statement only. */
      const unsure = new Set<LiveSession>()
      let isRechecking = false
      const recheck = Effect.gen(function* () {
        while (doubted.size > 0) {
          const batch = [...doubted]
          doubted.clear()
          const recheckOne = (session: LiveSession) =>
            Effect.map(session.recheck(), (isKnown) => void (isKnown || unsure.add(session)))
          yield* Effect.forEach(batch, recheckOne, { concurrency: rechecksAtOnce, discard: true })
        }
        isRechecking = false
      })
      const doubt = (some: Iterable<LiveSession>): void => {
        for (const session of some) doubted.add(session)
        if (doubted.size === 0 || isRechecking) return
        isRechecking = true
        // Not in this turn: caches that are told after us still hold what the user was before.
        setImmediate(() => fork(recheck))
      }
      const everybody = function* () {
        for (const theirs of byUser.values()) yield* theirs
      }
      const withKeys = () => [...everybody()].filter((session) => session.principal()?.via === "api_key")
      const stopHearing = [
        bus.onInvalidate("user", (keys) => {
          identifying.usersChanged(keys)
          doubt(keys === "all" ? everybody() : keys.flatMap((key) => [...(byUser.get(key) ?? [])]))
        }),
        bus.onInvalidate("api_key", () => {
          identifying.keysChanged()
          doubt(withKeys())
        }),
      ]

      /** Those with too much unsent, and how much they had read at the last look. */
      let behind = new Map<LiveSession, number>()
      const cutSlow = (): void => {
        const stillBehind = new Map<LiveSession, number>()
        for (const session of sessions) {
          const bytes = session.sink.bufferedBytes()
          if (bytes <= slowAboveBytes) continue
          const read = session.sink.sentBytes() - bytes
          if (read >= (behind.get(session) ?? Number.NEGATIVE_INFINITY) + leastReadBytes) {
            stillBehind.set(session, read)
            continue
          }
          isSlow(session)
          session.sink.cut()
        }
        behind = stillBehind
      }

      let sweeps = 0
      let doubtedAt = 0
      let keysDoubtedAt = 0
      const sweeper = setInterval(() => {
        const now = ports.now()
        // After a stall this comes before the frames that were sent during it.
        const sinceSweepMs = performance.now() - sweptAt
        listenedMs += Math.min(sinceSweepMs, 2 * sweepMs)
        sweptAt += sinceSweepMs
        for (const session of sessions) session.sweep(now)
        if (++sweeps % slowEverySweeps === 0) cutSlow()
        if (now - keysDoubtedAt > keyRecheckMs) {
          keysDoubtedAt = now
          doubt(withKeys())
        }
        if ((bus.mayServe() && unsure.size === 0) || now - doubtedAt < doubtMs) return
        doubtedAt = now
        const again = bus.mayServe() ? [...unsure] : everybody()
        unsure.clear()
        doubt(again)
      }, sweepMs)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const stop of stopHearing) stop()
          clearInterval(sweeper)
        }),
      )

      metrics.gauge("live_sockets", "Live sockets open", () => sessions.size)
      metrics.gauge("live_sockets_opened_total", "Live sockets opened since the start", () => opened)
      metrics.gauge("live_slow_sockets_cut_total", "Sockets cut off because they did not read", () => slowCut)
      metrics.gauge("live_subscriptions", "Subscriptions of live sockets", () => hub.counts().subscriptions)
      metrics.gauge("live_channels", "Channels somebody listens to", () => hub.counts().channels)
      metrics.gauge("live_events_published_total", "Events read and encoded", () => hub.counts().published)
      metrics.gauge(
        "live_events_delivered_total",
        "Event frames handed to sockets",
        () => hub.counts().delivered,
      )
      metrics.gauge("live_recovered_total", "Positions resumed without loss", () => hub.counts().recovered)
      metrics.gauge(
        "live_unrecovered_total",
        "Positions answered with the state",
        () => hub.counts().unrecovered,
      )
      metrics.gauge(
        "live_wakeups_repaired_total",
        "Lost wake-ups found by the check",
        () => hub.counts().repaired,
      )

      const drain = async ({ withinMs }: Drain): Promise<void> => {
        const steps = Math.max(1, Math.floor(withinMs / drainStepMs))
        const perStep = Math.max(1, Math.ceil(sessions.size / steps))
        while (sessions.size > 0) {
          for (const session of [...sessions].slice(0, perStep)) {
            session.restart()
          }
          if (sessions.size > 0) await new Promise((next) => setTimeout(next, drainStepMs))
        }
      }

      return LiveSessions.of({
        open: (sink) => {
          const session = new LiveSession(sink, ports)
          sessions.add(session)
          opened++
          return session
        },
        attach: hub.attach,
        count: () => sessions.size,
        isSlow,
        drain,
      })
    }),
  )
}
