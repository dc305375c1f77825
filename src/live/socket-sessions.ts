import { Context, Effect, Layer } from "effect"
import { Bus } from "../cluster/bus.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { Metrics } from "../telemetry/metrics.ts"
import type { Publish } from "./channel-registry.ts"
import { LiveProofs } from "./channel-states.ts"
import { Hub } from "./hub.ts"
import { registerLiveMetrics } from "./live-metrics.ts"
import type { Sink } from "./protocol.ts"
import { makeIdentify, recheckWhenChanged } from "./socket-identity.ts"
import { LiveLookups } from "./socket-lookup-store.ts"
import { LiveSession, type SessionPorts } from "./socket-session.ts"

/** Every sweep looks for sockets that did not connect in time and for expired tokens. */
const sweepMs = 250
/** Every fourth sweep also looks for slow readers, which takes a call of the transport per socket. */
const slowEverySweeps = 4
/**
 * A socket with more unsent bytes is disconnected, unless it reads fast enough (see `leastReadBytes`). Its client can
 * reconnect and resume.
 */
const slowAboveBytes = 256 * 1024
/**
 * A slow socket that reads at least this much between two checks stays connected. Otherwise a very large state could
 * never be delivered.
 */
const leastReadBytes = 16 * 1024
/**
 * While this process may miss invalidations, it rechecks all authenticated sockets at this interval. At other times, it
 * rechecks only the sockets whose last recheck failed, and those of users that a running write may change: if the writer
 * dies after the commit, its mark ends only several seconds later.
 */
const recheckMs = 1000
/** Sockets that use an API key are also rechecked at this interval. */
const keyRecheckMs = 30_000
const concurrentRechecks = 4
const drainStepMs = 50

export interface Drain {
  readonly withinMs: number
}

/** The live sockets of this process. */
export class LiveSessions extends Context.Service<
  LiveSessions,
  {
    open(sink: Sink): LiveSession
    attach(publish: Publish): () => void
    count(): number
    /** Counts a socket that the transport closes because its send buffer is full. */
    isSlow(session: LiveSession): void
    /** Closes the sockets with code 1012, in steps, so that their clients do not reconnect at the same moment. */
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
      const authentication = recheckWhenChanged(yield* makeIdentify)
      const directory = yield* LiveLookups
      const proofs = yield* LiveProofs
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
        proofs,
        identify: authentication.identify,
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

      const toRecheck = new Set<LiveSession>()
      /** Sessions whose recheck failed, for example because the database was unavailable. */
      const unchecked = new Set<LiveSession>()
      let isRechecking = false
      const recheck = Effect.gen(function* () {
        while (toRecheck.size > 0) {
          const batch = [...toRecheck]
          toRecheck.clear()
          const recheckOne = (session: LiveSession) =>
            Effect.map(session.recheck(), (isKnown) => void (isKnown || unchecked.add(session)))
          yield* Effect.forEach(batch, recheckOne, { concurrency: concurrentRechecks, discard: true })
        }
        isRechecking = false
      })
      const scheduleRecheck = (some: Iterable<LiveSession>): void => {
        for (const session of some) toRecheck.add(session)
        if (toRecheck.size === 0 || isRechecking) return
        isRechecking = true
        // The recheck does not start immediately, because caches that are invalidated after this handler still hold the
        // old permissions.
        setImmediate(() => fork(recheck))
      }
      const authenticated = function* () {
        for (const theirs of byUser.values()) yield* theirs
      }
      const marked = function* () {
        for (const [userId, theirs] of byUser) if (bus.isMarked("user", userId)) yield* theirs
      }
      const withKeys = () => [...authenticated()].filter((session) => session.principal()?.via === "api_key")
      const stopListening = [
        bus.onInvalidate("user", (keys) => {
          authentication.usersChanged(keys)
          scheduleRecheck(
            keys === "all" ? authenticated() : keys.flatMap((key) => [...(byUser.get(key) ?? [])]),
          )
        }),
        bus.onInvalidate("api_key", () => {
          authentication.keysChanged()
          scheduleRecheck(withKeys())
        }),
      ]

      /** Sockets with too many unsent bytes, and how many bytes they had read at the last check. */
      let behind = new Map<LiveSession, number>()
      const disconnectSlow = (): void => {
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
      let recheckedAt = 0
      let keysRecheckedAt = 0
      const sweeper = setInterval(() => {
        const now = ports.now()
        // After a stall of the process, this sweep runs before the frames that arrived during the stall are handled. So
        // only a part of the stall counts as time in which the process has listened.
        const sinceSweepMs = performance.now() - sweptAt
        listenedMs += Math.min(sinceSweepMs, 2 * sweepMs)
        sweptAt += sinceSweepMs
        for (const session of sessions) session.sweep(now)
        if (++sweeps % slowEverySweeps === 0) disconnectSlow()
        if (now - keysRecheckedAt > keyRecheckMs) {
          keysRecheckedAt = now
          scheduleRecheck(withKeys())
        }
        if (now - recheckedAt < recheckMs) return
        recheckedAt = now
        const again = bus.mayServe() ? [...unchecked, ...marked()] : authenticated()
        unchecked.clear()
        scheduleRecheck(again)
      }, sweepMs)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const stop of stopListening) stop()
          clearInterval(sweeper)
        }),
      )

      registerLiveMetrics(metrics, {
        ...hub,
        sockets: () => ({ open: sessions.size, opened, slow: slowCut }),
      })

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
