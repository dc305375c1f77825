import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from "uWebSockets.js"
import { Forbidden, InvalidRequest, type Problem, TooManyRequests, Unavailable } from "../../schema/errors.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import { addressGroup, makeCallerAddress } from "../http/request/caller-address.ts"
import { hasValidLength } from "../http/request/head.ts"
import { makeRequestIds } from "../http/request/ids.ts"
import { headerLines, statusLine } from "../http/response/header-lines.ts"
import { problemResponse } from "../http/response/problem.ts"
import { writeBody } from "../http/response/write-body.ts"
import type { Sink } from "./protocol.ts"
import type { Frame } from "./replay-buffer.ts"
import type { LiveSession } from "./socket-session.ts"
import type { LiveSessions } from "./socket-sessions.ts"

export interface SocketOptions {
  readonly sessions: (typeof LiveSessions)["Service"]
  readonly allowedOrigins: ReadonlyArray<string>
  readonly maxSockets: number
  /** Limit per client address. Undefined: no limit. */
  readonly maxSocketsPerAddress?: number | undefined
  readonly trustProxy?: boolean
  readonly defect: (error: unknown) => void
}

interface Data {
  readonly address: string
  session?: LiveSession
  sink?: SocketSink
}

/** Above this limit uWebSockets.js drops the frame and closes the socket. The sweep normally disconnects it earlier. */
const maxBackpressureBytes = 1024 * 1024
const tokenInQuery = /(?:^|&)(?:access_)?token=/i

class SocketSink implements Sink {
  /** Undefined after the close, because any further use of the socket throws. */
  #socket: WebSocket<Data> | undefined
  #sent = 0
  readonly address: string

  constructor(socket: WebSocket<Data>) {
    this.#socket = socket
    this.address = socket.getUserData().address
  }
  send(frame: string | Frame): void {
    this.#sent += frame.length
    this.#socket?.send(frame, false)
  }
  subscribe(topic: string): void {
    this.#socket?.subscribe(topic)
  }
  unsubscribe(topic: string): void {
    this.#socket?.unsubscribe(topic)
  }
  close(code: number, reason: string): void {
    this.#socket?.end(code, reason)
  }
  cut(): void {
    this.#socket?.close()
  }
  bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0
  }
  sentBytes(): number {
    return this.#sent
  }
  gone(): void {
    this.#socket = undefined
  }
}

/** Adds the live socket to the HTTP server. The upgrade is decided synchronously. The first frame authenticates. */
export const mountLive = (
  app: TemplatedApp,
  options: SocketOptions,
): { drain(withinMs: number): Promise<void> } => {
  const { defect, sessions } = options
  const anyOrigin = options.allowedOrigins.includes("*")
  const allowedOrigins = new Set(options.allowedOrigins)
  let draining = false
  const detach = sessions.attach((topic, frame) => void app.publish(topic, frame, false))

  const byAddress = new Map<string, number>()
  const { maxSocketsPerAddress = Number.POSITIVE_INFINITY } = options
  /** Returns why an upgrade is refused, or undefined if it is accepted. */
  const refusal = (origin: string, query: string, address: string): Problem | undefined => {
    if (draining || sessions.count() >= options.maxSockets)
      return new Unavailable({
        error: "This server accepts no more live connections at the moment. Retry later.",
        retryAfterSeconds: 1,
      })
    if ((byAddress.get(address) ?? 0) >= maxSocketsPerAddress)
      return new TooManyRequests({
        error: "Too many open live connections from this address. Close one and retry.",
        retryAfterSeconds: 1,
      })
    // Browsers always send an Origin, also from unknown pages. Other programs usually send none.
    if (origin !== "" && !anyOrigin && !allowedOrigins.has(origin))
      return new Forbidden({
        error: "This origin is not allowed to connect. The operator can add it to ALLOWED_ORIGINS.",
      })
    // A token in the URL is refused, because URLs are stored in logs and browser histories.
    return tokenInQuery.test(query)
      ? new InvalidRequest({ error: "Send the token in the connect frame, not in the URL." })
      : undefined
  }

  const addressOf = makeCallerAddress(options.trustProxy ?? false)
  const requestIds = makeRequestIds()
  const refuse = (res: HttpResponse, requestId: string, problem: Problem) => {
    const response = problemResponse(problem, requestId)
    let isClosed = false
    res.onAborted(() => {
      isClosed = true
    })
    // The response is sent in the next turn of the event loop. Until then, uWebSockets.js closes the connection if it
    // sends another request.
    setImmediate(() => {
      if (isClosed) return
      res.cork(() => {
        res.writeStatus(statusLine(response.status))
        res.writeHeader("X-Request-Id", `${requestId}${headerLines(response)}`)
        writeBody(res, response.body ?? "", true)
      })
    })
  }

  const upgrade = (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => {
    if (!hasValidLength(req)) return void res.close()
    const address = addressGroup(addressOf(res, req))
    const refused = refusal(req.getHeader("origin"), req.getQuery() ?? "", address)
    if (refused !== undefined) return refuse(res, requestIds.of(req), refused)
    byAddress.set(address, (byAddress.get(address) ?? 0) + 1)
    res.upgrade<Data>(
      { address },
      req.getHeader("sec-websocket-key"),
      req.getHeader("sec-websocket-protocol"),
      req.getHeader("sec-websocket-extensions"),
      context,
    )
  }

  /** Catches errors of handlers, which would otherwise end the process. */
  const guarded = (socket: WebSocket<Data>, run: (data: Data) => void) => {
    try {
      run(socket.getUserData())
    } catch (error) {
      defect(error)
      socket.getUserData().sink?.cut()
    }
  }

  app.ws<Data>("/live", {
    maxPayloadLength: liveLimits.frameBytes,
    maxBackpressure: maxBackpressureBytes,
    closeOnBackpressureLimit: 1,
    idleTimeout: liveLimits.idleSeconds,
    sendPingsAutomatically: true,
    upgrade,
    open: (socket) =>
      guarded(socket, (data) => {
        data.sink = new SocketSink(socket)
        data.session = sessions.open(data.sink)
      }),
    message: (socket, message, isBinary) =>
      guarded(socket, ({ session }) => session?.receive(isBinary ? "" : Buffer.from(message).toString())),
    ping: (socket) => guarded(socket, ({ session }) => session?.count()),
    pong: (socket) => guarded(socket, ({ session }) => session?.count()),
    dropped: (socket) => guarded(socket, ({ session }) => session && sessions.isSlow(session)),
    drain: (socket) => guarded(socket, ({ session }) => session?.drained()),
    close: (socket) => {
      const { address, session, sink } = socket.getUserData()
      const left = (byAddress.get(address) ?? 1) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
      sink?.gone()
      session?.closed()
    },
  })

  return {
    drain: async (withinMs) => {
      draining = true
      await sessions.drain({ withinMs })
      detach()
    },
  }
}
