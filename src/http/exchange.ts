import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import type { Endpoint, RawResponse } from "./endpoint.ts"
import { ResponsePace } from "./limits/response-pace.ts"
import { append, noBody, whole } from "./request/body.ts"
import { headerKey } from "./request/header-key.ts"
import { makeRequestIds } from "./request/ids.ts"
import { makeCrossOrigin } from "./response/cross-origin.ts"
import { headerLines } from "./response/header-lines.ts"
import { makeResponseWriter, type ResponseTarget } from "./response/write-response.ts"

/** The reasons for which the server itself sends an error, not the handler. */
export type Refusal =
  | "bad_length"
  | "bad_path"
  | "not_found"
  | "too_many_unknown"
  | "method_not_allowed"
  | "body_too_large"
  | "overloaded"
  | "deadline"
  | "defect"

export interface Observer {
  /** Returns a function that the server calls with the status of each precomputed response of this endpoint. */
  prepared(endpoint: Endpoint): (status: number) => void
  answered(endpoint: Endpoint | undefined, status: number, milliseconds: number): void
  /** Called when the client disconnects before its response. */
  aborted(): void
}

export interface ExchangeOptions {
  readonly allowedOrigins: ReadonlyArray<string>
  /** Whether the public address of the service is https. */
  readonly isHttps?: boolean
  readonly deadlineMs: number
  readonly observe: Observer
  /** Makes the response to a request that the server refuses for one of the reasons in `Refusal`. */
  readonly refuse: (
    kind: Refusal,
    requestId: string,
    details?: string,
    shape?: Endpoint["errorBody"],
  ) => RawResponse
}

/** One request and its response. */
export interface Exchange extends ResponseTarget {
  readonly startedAt: number
  /**
   * The form of an error if no route handles the request: `page` if the client accepts HTML, otherwise undefined, which
   * means JSON. Also undefined if a route handles the request.
   */
  readonly errorBody: Endpoint["errorBody"]
  open: boolean
  /** True while the response is ready and waits to be written in the next turn of the event loop. */
  isWaiting: boolean
  /** The time since which the handler has been running without a pause; 0 while it waits for I/O. */
  runningSince: number
  /**
   * True during the native callback of the request. In it, the library itself combines writes into one (corks them).
   */
  inCallback: boolean
  /** Asks the handler to stop. Returns false if the handler does not stop and continues to its end. */
  cancel: () => boolean
}

const keys = {
  accept: headerKey("accept"),
  origin: headerKey("origin"),
}
/** After these refusals the connection is closed, because a part of the request may be unread. */
const closing = new Set<Refusal>(["bad_length", "body_too_large", "deadline"])
const noCancel = () => true

const describeDefect = (error: unknown): string | undefined =>
  error instanceof Error ? error.stack : String(error)

/** Manages the requests of one server, each from its arrival to the end of its response. */
export const makeExchanges = ({
  allowedOrigins,
  deadlineMs,
  isHttps = false,
  observe,
  refuse,
}: ExchangeOptions) => {
  const requestIds = makeRequestIds()
  const inFlight = new Set<Exchange>()
  const pace = new ResponsePace()
  const state = { isDraining: false }
  const crossOrigin = makeCrossOrigin(allowedOrigins, isHttps)
  const writeNow = makeResponseWriter(crossOrigin, state)

  const write = (exchange: Exchange, response: RawResponse, lines: string, close: boolean) => {
    const now = performance.now()
    exchange.open = false
    if (!exchange.inCallback) inFlight.delete(exchange)
    observe.answered(exchange.endpoint, response.status, now - exchange.startedAt)
    const isWatched = pace.addHandled(exchange.runningSince === 0 ? 0 : now - exchange.runningSince)
    const writeAll = () => writeNow(exchange, response, lines, close, isWatched)
    // In one native callback, the library combines (corks) only the first 16 KB of writes; after that, each write is
    // a system call. So a watched response is corked here.
    if (exchange.inCallback && !isWatched) writeAll()
    else exchange.res.cork(writeAll)
  }

  /** Sends the response. It is dropped if the request already has a response or the client has disconnected. */
  const answer = (exchange: Exchange, response: RawResponse, close = false, made?: string) => {
    if (!exchange.open) {
      inFlight.delete(exchange)
      return
    }
    if (exchange.isWaiting) return
    const lines = made ?? headerLines(response)
    if (!pace.isOver) return write(exchange, response, lines, close)
    exchange.isWaiting = true
    setImmediate(() => {
      if (exchange.open) write(exchange, response, lines, close)
      else inFlight.delete(exchange)
    })
  }

  const fail = (exchange: Exchange, kind: Refusal, details?: string) =>
    answer(
      exchange,
      refuse(kind, exchange.requestId, details, exchange.endpoint?.errorBody ?? exchange.errorBody),
      closing.has(kind),
    )

  const failDefect = (exchange: Exchange, error: unknown) => fail(exchange, "defect", describeDefect(error))

  const open = (
    res: HttpResponse,
    req: HttpRequest,
    endpoint: Endpoint | undefined,
    head: boolean,
  ): Exchange => {
    const startedAt = performance.now()
    return {
      res,
      requestId: requestIds.of(req),
      origin: crossOrigin.anyOrigin ? "" : req.getHeader(keys.origin),
      head,
      startedAt,
      endpoint,
      errorBody:
        endpoint === undefined && req.getHeader(keys.accept).includes("text/html") ? "page" : undefined,
      open: true,
      isWaiting: false,
      runningSince: startedAt,
      inCallback: true,
      cancel: noCancel,
    }
  }

  /**
   * Called at the end of the native callback. If the request has no response yet, it can from now on be aborted by
   * the client or reach its deadline.
   */
  const leave = (exchange: Exchange) => {
    exchange.inCallback = false
    exchange.runningSince = 0
    if (!exchange.open) return
    inFlight.add(exchange)
    exchange.res.onAborted(() => {
      if (!exchange.open) return
      exchange.open = false
      observe.aborted()
      if (exchange.cancel()) inFlight.delete(exchange)
    })
  }

  /**
   * Runs a function and converts an exception into a 500 response. An exception that leaves a native callback would
   * end the process.
   */
  const guarded = (exchange: Exchange, run: () => void) => {
    try {
      run()
    } catch (error) {
      failDefect(exchange, error)
    }
  }

  /**
   * Refuses a request whose length is ambiguous. The response is sent in the next turn of the event loop. Until then
   * the request has no response, and the library closes a connection that sends another request in this state. So the
   * bytes that follow are never handled as another request.
   */
  const refuseLength = (exchange: Exchange) => {
    setImmediate(() => fail(exchange, "bad_length"))
    leave(exchange)
  }

  const readBody = (exchange: Exchange, limitBytes: number, done: (body: Uint8Array) => void) => {
    let body = noBody
    exchange.res.onData((chunk, isLast) => {
      if (!exchange.open) return
      if (body.length + chunk.byteLength > limitBytes)
        return fail(exchange, "body_too_large", String(limitBytes))
      body = isLast && body.length === 0 ? whole(chunk) : append(body, chunk)
      if (!isLast) return
      exchange.runningSince = performance.now()
      guarded(exchange, () => done(body))
      exchange.runningSince = 0
    })
  }

  /** Receives a body without storing it. The connection can then be used for the next request. */
  const skipBody = (exchange: Exchange, limitBytes: number, done: () => void) => {
    let bytes = 0
    exchange.res.onData((chunk, isLast) => {
      if (!exchange.open) return
      bytes += chunk.byteLength
      if (bytes > limitBytes) fail(exchange, "body_too_large", String(limitBytes))
      else if (isLast) done()
    })
  }

  /**
   * Responds with an error to the requests whose deadline has passed. The set is ordered by arrival, so the loop
   * stops at the first request whose deadline has not passed.
   */
  const failExpired = () => {
    const expired = performance.now() - deadlineMs
    for (const exchange of inFlight) {
      if (exchange.startedAt > expired) break
      fail(exchange, "deadline")
      exchange.cancel()
    }
  }

  return {
    state,
    pace,
    requestIds,
    crossOrigin,
    inFlight,
    open,
    leave,
    answer,
    fail,
    failDefect,
    guarded,
    refuseLength,
    readBody,
    skipBody,
    failExpired,
  }
}

export type Exchanges = ReturnType<typeof makeExchanges>
