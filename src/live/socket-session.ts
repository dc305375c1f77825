import { Effect, Exit } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { type ClientFrame, closeCodes, type ErrorFrame, liveLimits } from "../../schema/live-frames.ts"
import type { Principal } from "../http/principal.ts"
import { type Channel, findChannel, mayReceive, notFound } from "./channel-names.ts"
import type { LiveProofs } from "./channel-states.ts"
import type { Hub } from "./hub.ts"
import { decodeClientFrame, encode, type Reference, referenceTo, type Sink } from "./protocol.ts"
import type { Identify, Identity } from "./socket-identity.ts"
import { LookupQueue, withId } from "./socket-lookup-queue.ts"
import type { LiveLookups } from "./socket-lookup-store.ts"
import { isFull, type Prove, type Subscriber, type Subscription } from "./subscription.ts"
import { TokenBucket } from "./token-bucket.ts"

type Run = <A>(effect: Effect.Effect<A, Unavailable>, done: (exit: Exit.Exit<A, Unavailable>) => void) => void

/** The services that all sessions share. */
export interface SessionPorts {
  readonly hub: (typeof Hub)["Service"]
  readonly directory: (typeof LiveLookups)["Service"]
  readonly proofs: (typeof LiveProofs)["Service"]
  readonly identify: Identify
  readonly run: Run
  /** Milliseconds since the Unix epoch, by the database's clock. */
  readonly now: () => number
  /** How long this process has been able to receive frames. Timeouts use it, so stalls of the process do not count. */
  readonly listenedMs: () => number
  /** Called when the user of the socket is known. */
  readonly identified: (session: LiveSession, userId: string) => void
  readonly ended: (session: LiveSession, userId: string | undefined) => void
}

const badFramesAllowed = 10
const tokenExpired = [closeCodes.tokenExpired, "token_expired"] as const

/** The protocol for one socket: handles its frames and subscriptions, independent of the transport. */
export class LiveSession implements Subscriber {
  readonly sink: Sink
  readonly #ports: SessionPorts
  readonly #openedAt: number
  readonly #subscriptions = new Map<string, Subscription>()
  #phase: "waiting" | "authenticating" | "ready" | "ending" | "closed" = "waiting"
  #identity: Identity | undefined
  /** Frames received while a token is being checked. */
  #queue: Array<ClientFrame> | undefined
  readonly #lookups: LookupQueue
  #badFrames = 0
  readonly #frameLimit: TokenBucket

  constructor(sink: Sink, ports: SessionPorts) {
    this.sink = sink
    this.#ports = ports
    this.#lookups = new LookupQueue(
      { ...ports, address: this.#address },
      (frame) => this.#send(frame),
      () => isFull(sink),
    )
    this.#openedAt = ports.listenedMs()
    this.#frameLimit = new TokenBucket(liveLimits.burstFrames, liveLimits.framesPerSecond, ports.now())
  }

  principal(): Principal | undefined {
    return this.#identity?.principal
  }
  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /**
   * Counts a frame of the client, and closes the socket if it has sent too many. Returns false if the frame is not to
   * be handled. The transport calls it for pings and pongs, which it answers itself.
   */
  count(): boolean {
    if (this.#phase === "closed" || this.#phase === "ending") return false
    if (this.#frameLimit.take(this.#ports.now())) return true
    this.#close(closeCodes.tooManyFrames, "too_many_frames")
    return false
  }

  receive(text: string) {
    if (!this.count()) return
    const frame = decodeClientFrame(text)
    if (frame.type === undefined)
      return this.#refuse(
        "bad_frame",
        "This is not a valid frame. See /asyncapi.json for the frames a client may send.",
        frame,
      )
    if (this.#phase !== "authenticating") return this.#handle(frame)
    this.#queue ??= []
    this.#queue.push(frame)
  }

  /** Called when the socket has room again. Continues the lookups and subscriptions that were waiting for room. */
  drained() {
    this.#lookups.drained()
    for (const subscription of this.#subscriptions.values()) subscription.advance()
  }

  /** Cleans up after the connection has ended. */
  closed() {
    if (this.#phase === "closed") return
    this.#phase = "closed"
    for (const subscription of this.#subscriptions.values()) subscription.end()
    this.#subscriptions.clear()
    this.#lookups.end()
    this.#ports.ended(this, this.#identity?.principal.userId)
  }

  /** Closes the socket if it did not connect in time or its token expired. Called periodically. */
  sweep(now: number) {
    const waitedMs = this.#ports.listenedMs() - this.#openedAt
    if (this.#phase === "waiting" && waitedMs > liveLimits.connectWithinSeconds * 1000) {
      this.#close(closeCodes.connectTimeout, "connect_timeout")
    } else if (this.#identity !== undefined && now >= this.#identity.expiresAtMs) {
      this.#close(...tokenExpired)
    }
  }

  restart() {
    this.#close(closeCodes.restart, "restart")
  }

  /**
   * Checks the token again. Closes the socket or ends subscriptions if permissions were lost. Returns false if the
   * check failed and must be repeated.
   */
  recheck(): Effect.Effect<boolean> {
    const before = this.#identity
    if (before === undefined || this.#phase === "closed") return Effect.succeed(true)
    return this.#ports.identify(before.token).pipe(
      Effect.flatMap((identity) => this.#applyRecheck(before, identity)),
      Effect.as(true),
      Effect.catchCause(() => Effect.succeed(false)),
    )
  }

  refused(subscription: Subscription) {
    const { name, shown } = subscription.openChannel.channel
    if (this.#subscriptions.get(name) !== subscription) return
    subscription.end()
    this.#subscriptions.delete(name)
    if (subscription.isStarted) this.#send({ type: "unsubscribed", channel: shown, reason: "not_allowed" })
    else this.#send({ type: "error", channel: subscription.requested, ...notFound })
  }

  #applyRecheck(before: Identity, identity: Identity | undefined): Effect.Effect<void> {
    // If a newer token has replaced the checked one in the meantime, the result is ignored.
    if (this.#identity !== before) return Effect.void
    if (identity !== undefined) return Effect.sync(() => this.#setIdentity(identity))
    if (this.#ports.now() >= before.expiresAtMs) return Effect.sync(() => this.#close(...tokenExpired))
    return this.#endLogin(`session:${before.principal.userId}`)
  }

  /** Ends all subscriptions and closes the socket. The `session` channel first delivers its last events. */
  #endLogin(sessionChannel: string): Effect.Effect<void> {
    this.#phase = "ending"
    for (const [name, subscription] of this.#subscriptions) {
      if (name === sessionChannel) continue
      subscription.end()
      this.#subscriptions.delete(name)
    }
    const lastEvents = this.#subscriptions.has(sessionChannel)
      ? this.#ports.hub.settle(sessionChannel)
      : Effect.void
    return Effect.map(lastEvents, () => this.#close(closeCodes.sessionEnded, "session_ended"))
  }

  #handle(frame: ClientFrame) {
    if (frame.type === "connect") return this.#connect(frame.token ?? undefined)
    if (this.#phase !== "ready")
      return this.#refuse("not_connected", "Send a connect frame first.", referenceTo(frame))
    switch (frame.type) {
      case "subscribe":
        return this.#subscribe(frame)
      case "unsubscribe":
        return this.#unsubscribe(frame.channel)
      case "lookup":
        return this.#lookups.add(frame)
      case "ping":
        return this.#send({ type: "pong", ...withId(frame.id) })
    }
  }

  #connect(token: string | undefined) {
    if (token === undefined) {
      if (this.#identity !== undefined)
        return this.#refuse(
          "bad_frame",
          "This socket is already authenticated. Open another socket to connect without a token.",
        )
      this.#phase = "ready"
      return this.#sendConnected()
    }
    const wasReady = this.#phase === "ready"
    this.#phase = "authenticating"
    this.#ports.run(this.#ports.identify(token), (exit) => {
      if (this.#phase !== "authenticating") return
      this.#phase = wasReady ? "ready" : "waiting"
      if (Exit.isFailure(exit)) {
        this.#refuse("unavailable", "The token could not be checked. Retry later.")
        if (!wasReady) this.#close(closeCodes.tryLater, "try_later")
      } else this.#accept(exit.value)
      this.#handleQueued()
    })
  }

  #accept(identity: Identity | undefined) {
    if (identity === undefined) return this.#close(closeCodes.unauthorized, "unauthorized")
    const before = this.#identity?.principal.userId
    if (before !== undefined && before !== identity.principal.userId) {
      return this.#refuse(
        "user_changed",
        "The token belongs to another user. Open another socket for that user.",
      )
    }
    this.#phase = "ready"
    this.#setIdentity(identity)
    this.#sendConnected()
  }

  #setIdentity(identity: Identity) {
    const before = this.#identity?.principal.userId
    this.#identity = identity
    if (before === undefined) this.#ports.identified(this, identity.principal.userId)
    for (const subscription of [...this.#subscriptions.values()]) {
      const { channel, parties } = subscription.openChannel
      const isOpen = !("code" in findChannel(channel.shown, identity.principal))
      if (!isOpen || (subscription.isStarted && !mayReceive(channel.kind, identity.principal, parties))) {
        this.refused(subscription)
      }
    }
  }

  #handleQueued() {
    const queue = this.#queue ?? []
    this.#queue = undefined
    for (const [at, frame] of queue.entries()) {
      if (this.#isClosed()) return
      this.#handle(frame)
      if (!this.#isAuthenticating()) continue
      this.#queue = queue.slice(at + 1)
      return
    }
  }

  #subscribe(frame: ClientFrame & { type: "subscribe" }) {
    const found = findChannel(frame.channel, this.principal())
    if ("code" in found) return this.#send({ type: "error", channel: frame.channel, ...found })
    if (!this.#subscriptions.has(found.name) && this.#subscriptions.size >= liveLimits.subscriptions) {
      const error = `A socket can have ${liveLimits.subscriptions} subscriptions. Unsubscribe from a channel first.`
      return this.#send({ type: "error", channel: frame.channel, code: "too_many_subscriptions", error })
    }
    const { epoch, offset } = frame
    const after = epoch == null || offset == null ? undefined : { epoch: epoch.toLowerCase(), offset }
    this.#subscriptions.get(found.name)?.end()
    const prove = frame.proof === true && found.kind === "emoji_id" ? this.#prove : undefined
    const subscription = this.#ports.hub.join(found, this, frame.channel, prove)
    this.#subscriptions.set(found.name, subscription)
    subscription.start(after)
  }

  /** A state that cannot be signed now is sent without a proof. Its client looks the id up again. */
  readonly #prove: Prove = (state, done) => {
    const { proofs, run } = this.#ports
    run(proofs.add([JSON.parse(state)], this.#address), (exit) =>
      done(Exit.isSuccess(exit) ? JSON.stringify(exit.value[0]) : state),
    )
  }

  get #address(): string {
    return this.sink.address ?? ""
  }

  #unsubscribe(requested: string) {
    const found = findChannel(requested, this.principal())
    if ("code" in found) return this.#send({ type: "error", channel: requested, ...found })
    this.#drop(found)
    this.#send({ type: "unsubscribed", channel: found.shown, reason: "asked" })
  }

  #drop({ name }: Channel) {
    this.#subscriptions.get(name)?.end()
    this.#subscriptions.delete(name)
  }

  #sendConnected() {
    const { expiresAtMs = Number.POSITIVE_INFINITY, principal } = this.#identity ?? {}
    const expires_at = Number.isFinite(expiresAtMs) ? new Date(expiresAtMs).toISOString() : null
    this.#send({ type: "connected", user_id: principal?.userId ?? null, expires_at })
  }

  #refuse(code: ErrorFrame["code"], error: string, reference: Reference = {}) {
    this.#send({ type: "error", code, error, ...reference })
    if (code !== "bad_frame" && code !== "not_connected") return
    if (++this.#badFrames >= badFramesAllowed) this.#close(closeCodes.badFrames, "bad_frames")
  }

  #isClosed(): boolean {
    return this.#phase === "closed"
  }
  #isAuthenticating(): boolean {
    return this.#phase === "authenticating"
  }

  #send(frame: Parameters<typeof encode>[0]) {
    if (this.#phase !== "closed") this.sink.send(encode(frame))
  }

  #close(code: number, reason: string) {
    if (this.#phase === "closed") return
    this.closed()
    this.sink.close(code, reason)
  }
}
