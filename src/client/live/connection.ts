import { isRefusal } from "../api-error.ts"
import type { ClientFrame, LiveLookupResult, ServerFrame } from "../api-types.ts"
import { type Backoff, delayMs } from "../backoff.ts"
import { callListener } from "../event-listener.ts"
import type { ChannelState, LiveChannel } from "./channel-state.ts"
import type { LiveOptions, LiveStatus } from "./options.ts"
import { Outbox } from "./outbox.ts"
import { PendingRequests } from "./pending-requests.ts"
import { isPublic, restartCode, temporaryErrors, tokenCodes } from "./protocol-constants.ts"
import type { SocketLike } from "./socket-like.ts"
import { type ChannelHandlers, type Listening, Subscriptions } from "./subscriptions.ts"
import { renewalMs } from "./token-renewal.ts"

const defaultBackoff: Backoff = { firstMs: 500, longestMs: 30_000 }
const replyTimeoutMs = 10_000
const pingEveryMs = 25_000
/** A connection that lasted longer than this resets the backoff. */
const steadyMs = 10_000

/** One socket for all channels. It reconnects by itself and resumes each channel, or reports a new state. */
export class LiveConnection {
  readonly #options: LiveOptions
  readonly #channels = new Subscriptions()
  readonly #lookups = new PendingRequests(replyTimeoutMs)
  readonly #outbox = new Outbox((frame) => this.#sendNow(frame))
  #status: LiveStatus = "idle"
  #socket: SocketLike | undefined
  #tries = 0
  #mustRenew = false
  /** True if the login has ended and only public channels and lookups continue. */
  #isAnonymous = false
  /** Counts the frames that subscribe or unsubscribe. */
  #requests = 0
  #leftAt = 0
  /** Counts attempts to connect, so that the token of an earlier attempt is ignored. */
  #attempts = 0
  /** The user of the last authenticated connection. */
  #userId: string | undefined
  #receivedAt = 0
  #connectedAt = Number.POSITIVE_INFINITY
  #retry: ReturnType<typeof setTimeout> | undefined
  #renewal: ReturnType<typeof setTimeout> | undefined
  #pinger: ReturnType<typeof setInterval> | undefined

  constructor(options: LiveOptions) {
    this.#options = options
  }

  get status(): LiveStatus {
    return this.#status
  }

  /** Subscribes to a channel. Returns a function that ends the subscription. */
  subscribe<C extends LiveChannel>(channel: C, handlers: ChannelHandlers<ChannelState<C>>): () => void {
    if (this.#status === "closed") {
      callListener(() => handlers.closed?.())
      return () => {}
    }
    const awaiting = this.#channels.awaiting(channel)
    const listening = this.#channels.add(channel, handlers as ChannelHandlers)
    // If a request for the same spelling is still pending, its reply serves both listeners.
    if (awaiting === undefined) this.#request(listening)
    else listening.requestedAt = awaiting.requestedAt
    this.#connectSoon()
    return () => {
      if (!this.#channels.remove(listening)) return
      this.#leftAt = ++this.#requests
      this.#send({ type: "unsubscribe", channel })
    }
  }

  /** Looks up any number of ids. Returns one result per id, in the same order, on request each with a proof. */
  lookup(
    emojiIds: ReadonlyArray<string>,
    { proof = false }: { readonly proof?: boolean } = {},
  ): Promise<ReadonlyArray<LiveLookupResult>> {
    if (this.#status === "closed") return Promise.reject(new Error("The live connection was closed"))
    this.#connectSoon()
    return this.#lookups.request(emojiIds, (frame) => this.#send(frame), proof)
  }

  /** Reconnects after a login or logout, because a socket belongs to one user. */
  userChanged(): void {
    if (this.#status === "idle" || this.#status === "closed") return
    this.#stopTimers()
    this.#mustRenew = false
    this.#isAnonymous = false
    const old = this.#socket
    this.#socket = undefined
    old?.close(1000)
    if (this.#options.credentials.canRenew) void this.#connect()
    else this.#loggedOut()
  }

  /** Connects without waiting for the next attempt, for example because the device is online again. */
  reconnectNow(): void {
    if (this.#status !== "waiting") return
    clearTimeout(this.#retry)
    void this.#connect()
  }

  close(): void {
    this.#setStatus("closed")
    this.#stopTimers()
    this.#lookups.failAll("The live connection was closed")
    this.#socket?.close(1000)
    this.#socket = undefined
    this.#channels.close()
  }

  #connectSoon(): void {
    if (this.#status !== "idle" && this.#status !== "logged_out") return
    this.#isAnonymous = false
    void this.#connect()
  }

  /**
   * Sets the status `logged_out`. If public channels or lookups are in use, connects again without a token, because
   * the application still expects their events and results.
   */
  #loggedOut(): void {
    this.#isAnonymous = this.#channels.hasPublic() || this.#lookups.arePending
    this.#setStatus("logged_out")
    if (this.#isAnonymous && this.#status === "logged_out") void this.#connect()
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempts
    this.#setStatus("connecting")
    const isWanted = () => this.#status === "connecting" && this.#attempts === attempt
    const { credentials, socket: Socket, url } = this.#options
    let token: string | undefined
    try {
      if (!this.#isAnonymous)
        token = credentials.apiKey ?? (await (this.#mustRenew ? credentials.renew() : credentials.token()))
    } catch (error) {
      if (!isWanted()) return
      // The login has ended if the service rejected the token or this client logged out. Otherwise retry later.
      if (isRefusal(error) || !credentials.canRenew) this.#loggedOut()
      else this.#reconnectLater()
      return
    }
    if (!isWanted()) return
    this.#mustRenew = false
    const socket = new Socket(url)
    this.#socket = socket
    this.#receivedAt = Date.now()
    this.#pinger = setInterval(() => this.#checkAlive(), pingEveryMs)
    socket.onopen = () =>
      socket.send(JSON.stringify({ type: "connect", ...(token === undefined ? {} : { token }) }))
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      if (this.#socket !== socket) return
      this.#receivedAt = Date.now()
      this.#handle(JSON.parse(String(data)) as ServerFrame)
    }
    socket.onclose = ({ code }: { readonly code: number }) => {
      if (this.#socket === socket) this.#lost(code)
    }
    // `onclose` follows. Without a handler for errors, the package `ws` would end the process.
    socket.onerror = () => {}
  }

  #handle(frame: ServerFrame): void {
    if (frame.type === "connected") this.#connected(frame)
    else if (frame.type === "subscribed") this.#request(this.#channels.subscribed(frame))
    else if (frame.type === "event") this.#request(this.#channels.received(frame))
    else if (frame.type === "records") this.#lookups.answer(frame.id, frame.results)
    else if (frame.type === "unsubscribed") {
      if (frame.reason === "not_allowed") this.#channels.refused(frame.channel, "not_allowed")
      else for (const listening of this.#channels.left(frame.channel, this.#leftAt)) this.#request(listening)
    } else if (frame.type === "error") {
      this.#lookups.refused(frame, (frame) => this.#send(frame))
      if (frame.code === "user_changed") this.userChanged()
      if (frame.channel !== undefined && !temporaryErrors.includes(frame.code)) {
        this.#channels.refused(frame.channel, frame.code)
      }
    }
  }

  #connected({ expires_at, user_id }: ServerFrame & { type: "connected" }): void {
    this.#scheduleRenewal(expires_at)
    // A position in the channel `cart` of one user is not valid in the channel `cart` of another user.
    if (user_id !== null && user_id !== (this.#userId ?? user_id)) this.#channels.forgetPlaces()
    this.#userId = user_id ?? this.#userId
    // If the status is already `connected`, this frame is the reply to a renewed token, and nothing must be requested
    // again.
    if (this.#status === "connected") return
    this.#setStatus("connected")
    this.#connectedAt = Date.now()
    // Without a login, only public channels are requested.
    for (const listening of this.#channels.toRequest())
      if (!this.#isAnonymous || isPublic(listening.name)) this.#request(listening)
    for (const frame of this.#lookups.frames()) this.#send(frame)
  }

  #request(listening: Listening | undefined): void {
    if (listening === undefined) return
    listening.requestedAt = ++this.#requests
    this.#send({ type: "subscribe", channel: listening.requested, ...listening.place })
  }

  #scheduleRenewal(expiresAt: string | null): void {
    const { credentials } = this.#options
    clearTimeout(this.#renewal)
    const inMs = renewalMs(expiresAt)
    if (inMs === undefined || !credentials.canRenew) return
    const renew = () =>
      credentials.renew().then(
        (token) => this.#sendNow({ type: "connect", token }),
        // The server closes the socket when the token expires. The next connection then renews the token.
        () => {},
      )
    this.#renewal = setTimeout(() => void renew(), inMs)
  }

  /** Sends a ping, or reconnects if nothing was received for too long. */
  #checkAlive(): void {
    if (Date.now() - this.#receivedAt < pingEveryMs + replyTimeoutMs) {
      this.#sendNow({ type: "ping" })
      return
    }
    this.#socket?.close()
    this.#lost(1006)
  }

  #lost(code: number): void {
    this.#socket = undefined
    this.#stopTimers()
    if (this.#status === "closed") return
    if (tokenCodes.includes(code)) {
      this.#mustRenew = this.#options.credentials.canRenew
      if (!this.#mustRenew) {
        this.#loggedOut()
        return
      }
    }
    // The backoff is reset after a restart of the server and after a long connection, but not after a short one.
    if (code === restartCode || Date.now() - this.#connectedAt > steadyMs) this.#tries = 0
    this.#connectedAt = Number.POSITIVE_INFINITY
    this.#reconnectLater()
  }

  #reconnectLater(): void {
    this.#setStatus("waiting")
    const wait = delayMs(this.#options.backoff ?? defaultBackoff, this.#tries++)
    this.#retry = setTimeout(() => void this.#connect(), wait)
  }

  #stopTimers(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#renewal)
    clearInterval(this.#pinger)
    this.#outbox.clear()
  }

  /** Drops the frame if there is no connection. After `connected`, all subscriptions and lookups are sent again. */
  #send(frame: ClientFrame): void {
    if (this.#status === "connected") this.#outbox.send(frame)
  }

  /** Sends a frame before the queued ones. Drops it if there is no connection. */
  #sendNow(frame: ClientFrame): void {
    if (this.#status === "connected" && this.#socket?.readyState === 1)
      this.#socket.send(JSON.stringify(frame))
  }

  #setStatus(status: LiveStatus): void {
    if (this.#status === status) return
    this.#status = status
    callListener(() => this.#options.onStatus?.(status))
  }
}
