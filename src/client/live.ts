import type { ClientFrame, LookupResult, ServerFrame } from "../../schema/live-frames.ts"
import { isRefusal } from "./api-error.ts"
import { type Backoff, delayMs } from "./backoff.ts"
import { tell } from "./event-listener.ts"
import type { LiveOptions, LiveStatus } from "./live-options.ts"
import { Outbox } from "./outbox.ts"
import { PendingRequests } from "./pending-requests.ts"
import { isPublic, passingErrors, restartCode, tokenCodes } from "./protocol-constants.ts"
import type { SocketLike } from "./socket-like.ts"
import { type ChannelHandlers, type Listening, type LiveChannel, Subscriptions } from "./subscriptions.ts"
import { renewalMs } from "./token-renewal.ts"

const defaultBackoff: Backoff = { firstMs: 500, longestMs: 30_000 }
const answerWithinMs = 10_000
const pingEveryMs = 25_000
/** A connection that held for so long was a good one. */
const steadyMs = 10_000

/** One socket for all channels. It comes back by itself and goes on where it was, or says that it starts over. */
export class LiveConnection {
  readonly #options: LiveOptions
  readonly #channels = new Subscriptions()
  readonly #questions = new PendingRequests(answerWithinMs)
  readonly #outbox = new Outbox((frame) => this.#sendNow(frame))
  #status: LiveStatus = "idle"
  #socket: SocketLike | undefined
  #tries = 0
  #mustRenew = false
  /** The login is over, and what is open to everybody goes on without it. */
  #isNobody = false
  /** Counts the frames that ask for a channel or leave one. */
  #asks = 0
  #leftAt = 0
  /** Counts tries to connect: what an earlier one fetched is not wanted any more. */
  #attempts = 0
  /** The last person this was connected for. */
  #userId: string | undefined
  #heardAt = 0
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

  /** Returns what ends it. */
  subscribe(channel: LiveChannel, handlers: ChannelHandlers): () => void {
    const awaiting = this.#channels.awaiting(channel)
    const listening = this.#channels.add(channel, handlers)
    // What is answered to one who asked in the same words is told to both.
    if (awaiting === undefined) this.#ask(listening)
    else listening.askedAt = awaiting.askedAt
    this.#connectSoon()
    return () => {
      if (!this.#channels.remove(listening)) return
      this.#leftAt = ++this.#asks
      this.#send({ type: "unsubscribe", channel })
    }
  }

  /** One result per id, in their order, however many there are. */
  lookup(emojiIds: ReadonlyArray<string>): Promise<ReadonlyArray<LookupResult>> {
    if (this.#status === "closed") return Promise.reject(new Error("The live socket was closed"))
    this.#connectSoon()
    return this.#questions.ask(emojiIds, (frame) => this.#send(frame))
  }

  /** Somebody has logged in, or out: goes on as them, on another socket, since the old one is not theirs. */
  personChanged(): void {
    if (this.#status === "idle" || this.#status === "closed") return
    this.#stopTimers()
    this.#mustRenew = false
    this.#isNobody = false
    const old = this.#socket
    this.#socket = undefined
    old?.close(1000)
    if (this.#options.credentials.canRenew) void this.#connect()
    else this.#loggedOut()
  }

  close(): void {
    this.#become("closed")
    this.#stopTimers()
    this.#questions.failAll("The live socket was closed")
    this.#socket?.close(1000)
    this.#socket = undefined
  }

  #connectSoon(): void {
    if (this.#status !== "idle" && this.#status !== "logged_out") return
    this.#isNobody = false
    void this.#connect()
  }

  /** Whoever watches an id must not take the silence for no change. */
  #loggedOut(): void {
    this.#isNobody = this.#channels.hasPublic() || this.#questions.areOpen
    this.#become("logged_out")
    if (this.#isNobody && this.#status === "logged_out") void this.#connect()
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempts
    this.#become("connecting")
    const isWanted = () => this.#status === "connecting" && this.#attempts === attempt
    const { credentials, socket: Socket, url } = this.#options
    let token: string | undefined
    try {
      if (!this.#isNobody)
        token = credentials.apiKey ?? (await (this.#mustRenew ? credentials.renew() : credentials.token()))
    } catch (error) {
      if (!isWanted()) return
      // Only an answer, or a logout here, says that the login is over; without one the service is just away.
      if (isRefusal(error) || !credentials.canRenew) this.#loggedOut()
      else this.#comeBack()
      return
    }
    if (!isWanted()) return
    this.#mustRenew = false
    const socket = new Socket(url)
    this.#socket = socket
    this.#heardAt = Date.now()
    this.#pinger = setInterval(() => this.#checkPulse(), pingEveryMs)
    socket.onopen = () =>
      socket.send(JSON.stringify({ type: "connect", ...(token === undefined ? {} : { token }) }))
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      if (this.#socket !== socket) return
      this.#heardAt = Date.now()
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
    else if (frame.type === "subscribed") this.#ask(this.#channels.subscribed(frame))
    else if (frame.type === "event") this.#ask(this.#channels.happened(frame))
    else if (frame.type === "records") this.#questions.answer(frame.id, frame.results)
    else if (frame.type === "unsubscribed") {
      if (frame.reason === "not_allowed") this.#channels.refused(frame.channel, "not_allowed")
      else for (const listening of this.#channels.left(frame.channel, this.#leftAt)) this.#ask(listening)
    } else if (frame.type === "error") {
      this.#questions.refused(frame, (half) => this.#send(half))
      if (frame.code === "user_changed") this.personChanged()
      if (frame.channel !== undefined && !passingErrors.includes(frame.code)) {
        this.#channels.refused(frame.channel, frame.code)
      }
    }
  }

  #connected({ expires_at, user_id }: ServerFrame & { type: "connected" }): void {
    this.#scheduleRenewal(expires_at)
    // How far one person has heard their cart is no place in another's.
    if (user_id !== null && user_id !== (this.#userId ?? user_id)) this.#channels.forgetPlaces()
    this.#userId = user_id ?? this.#userId
    // A renewed token on the same socket.
    if (this.#status === "connected") return
    this.#become("connected")
    this.#connectedAt = Date.now()
    // The others wait for the next login.
    for (const listening of this.#channels.toAsk())
      if (!this.#isNobody || isPublic(listening.name)) this.#ask(listening)
    for (const frame of this.#questions.frames()) this.#send(frame)
  }

  #ask(listening: Listening | undefined): void {
    if (listening === undefined) return
    listening.askedAt = ++this.#asks
    this.#send({ type: "subscribe", channel: listening.asked, ...listening.place })
  }

  #scheduleRenewal(expiresAt: string | null): void {
    const { credentials } = this.#options
    clearTimeout(this.#renewal)
    const inMs = renewalMs(expiresAt)
    if (inMs === undefined || !credentials.canRenew) return
    const renew = () =>
      credentials.renew().then(
        (token) => this.#sendNow({ type: "connect", token }),
        // The socket closes when the token ends, and the next one asks again.
        () => {},
      )
    this.#renewal = setTimeout(() => void renew(), inMs)
  }

  /** A connection can die without a word. */
  #checkPulse(): void {
    if (Date.now() - this.#heardAt < pingEveryMs + answerWithinMs) {
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
    // Told to come back: soon, but not all in the same moment. Greeted and cut off at once is no better than not greeted.
    if (code === restartCode || Date.now() - this.#connectedAt > steadyMs) this.#tries = 0
    this.#connectedAt = Number.POSITIVE_INFINITY
    this.#comeBack()
  }

  #comeBack(): void {
    this.#become("waiting")
    const wait = delayMs(this.#options.backoff ?? defaultBackoff, this.#tries++)
    this.#retry = setTimeout(() => void this.#connect(), wait)
  }

  #stopTimers(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#renewal)
    clearInterval(this.#pinger)
    this.#outbox.clear()
  }

  /** Frames for a socket that is not there yet are not kept: `connected` asks for everything that is wanted then. */
  #send(frame: ClientFrame): void {
    if (this.#status === "connected") this.#outbox.send(frame)
  }

  /** Ahead of those that wait. */
  #sendNow(frame: ClientFrame): void {
    if (this.#status === "connected" && this.#socket?.readyState === 1)
      this.#socket.send(JSON.stringify(frame))
  }

  #become(status: LiveStatus): void {
    if (this.#status === status) return
    this.#status = status
    tell(() => this.#options.onStatus?.(status))
  }
}
