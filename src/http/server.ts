import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js"
import type { Endpoint, Precomputed, RawResponse } from "./endpoint.ts"
import { idempotencyHeader } from "./guards.ts"
import { AnswerPace } from "./limits/response-pace.ts"
import { append, noBody, whole } from "./request/body.ts"
import { callerAddress } from "./request/caller-address.ts"
import { clearHead, contentLengthOf, type HeadFacts, hasValidLength, readHead } from "./request/head.ts"
import { headerKey } from "./request/header-key.ts"
import { makeRequestIds } from "./request/ids.ts"
import { makeKnownPaths, methodsOf } from "./request/known-paths.ts"
import { parameterNames, percentDecode } from "./request/path.ts"
import { makeCrossOrigin, preflightHeaders } from "./response/cross-origin.ts"
import { headerLines, statusLine } from "./response/header-lines.ts"
import { makePrecomputedWriter } from "./response/precomputed.ts"
import { makeUnknownPath } from "./response/unknown-path.ts"
import { sendNoBody, writeBody } from "./response/write-body.ts"
import { uWS } from "./uws.ts"

export interface ServerOptions {
  readonly host: string
  readonly port: number
  /** Several processes share the port when this is false. */
  readonly exclusive: boolean
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly allowedOrigins: ReadonlyArray<string>
  readonly trustProxy: boolean
  readonly deadlineMs: number
  readonly observe: Observer
  /** Further handlers on the same port, such as the live socket. */
  readonly mount?: (app: TemplatedApp) => Mounted
  /** Answers for what the table does not know, and for what the server itself refuses. */
  readonly refuse: (
    kind: Refusal,
    requestId: string,
    details?: string,
    shape?: Endpoint["errorBody"],
  ) => RawResponse
}

/** Stands for a key that came and cannot be told: who sent it counts on being done once, and is refused. */
const unreadable = "\ufffd"

/** What was mounted: it ends its own connections when the server stops, within the time. */
export interface Mounted {
  drain(withinMs: number): Promise<void>
}

export type Refusal =
  | "bad_length"
  | "bad_path"
  | "not_found"
  | "method_not_allowed"
  | "body_too_large"
  | "deadline"
  | "defect"

export interface Observer {
  /** Called for each prepared answer of that endpoint. */
  prepared(endpoint: Endpoint): () => void
  answered(endpoint: Endpoint | undefined, status: number, milliseconds: number): void
}

export interface Server {
  readonly port: number
  readonly inFlight: () => number
  /** Takes no new connection, lets running requests finish, then closes what is left. */
  stop(withinMs: number): Promise<void>
}

interface Exchange {
  readonly res: HttpResponse
  readonly requestId: string
  readonly origin: string
  readonly head: boolean
  readonly startedAt: number
  readonly endpoint: Endpoint | undefined
  /** A path nobody knows is explained to a browser as a page. */
  readonly errorBody: Endpoint["errorBody"]
  open: boolean
  /** The answer is there and waits for the event loop to turn. */
  isWaiting: boolean
  /** Since when the handler has been running without a pause; 0 when it waits for something. */
  runningSince: number
  /** Still inside the native callback that brought the request, where writes are gathered anyway. */
  inCallback: boolean
  /** Whether the work for it is over now. */
  cancel: () => boolean
}

const keys = {
  accept: headerKey("accept"),
  origin: headerKey("origin"),
}
const closing = new Set<Refusal>(["bad_length", "body_too_large", "deadline"])
const isPrepared = ({ prepared }: Endpoint): boolean => prepared !== undefined
const noCancel = () => true
const sweepMs = 250
// LIBUS_LISTEN_EXCLUSIVE_PORT: a constant of the library that its types hide in an enum without a value.
const exclusivePort = 1

const describeDefect = (error: unknown): string | undefined =>
  error instanceof Error ? error.stack : String(error)

export const startServer = (options: ServerOptions): Promise<Server> => {
  const { endpoints, observe, refuse } = options
  const app = uWS.App()
  const requestIds = makeRequestIds()
  const inFlight = new Set<Exchange>()
  const pace = new AnswerPace()
  let draining = false

  const { anyOrigin, constantLines, writeOrigin } = makeCrossOrigin(options.allowedOrigins)
  const commonLines = `\r\nX-Content-Type-Options: ${constantLines}`
  const closedLines = "\r\nX-Content-Type-Options: nosniff"

  /** Each native call costs more than joining short strings, so one call writes all the headers. */
  const writeNow = (
    exchange: Exchange,
    response: RawResponse,
    lines: string,
    close: boolean,
    isWatched: boolean,
  ) => {
    const { res } = exchange
    if (response.status !== 200) res.writeStatus(statusLine(response.status))
    const end = close || draining ? "\r\nConnection: close" : ""
    const isClosed = exchange.endpoint?.sameOrigin === true
    const common = isClosed ? closedLines : commonLines
    const body = response.body ?? ""
    const hasContent = response.status !== 204 && response.status !== 304
    // Told the length, the library would wait for that much, and drop the request that comes next.
    const isLengthOurs = exchange.head && hasContent && !close
    const length = isLengthOurs ? `\r\nContent-Length: ${Buffer.byteLength(body)}` : ""
    res.writeHeader("X-Request-Id", `${exchange.requestId}${common}${lines}${length}${end}`)
    if (!anyOrigin && !isClosed) writeOrigin(res, exchange.origin)
    // Any argument, undefined too, would add a length to an answer that has no content.
    if (close) res.end(exchange.head ? "" : body, close)
    else if (exchange.head || !hasContent) sendNoBody(res)
    else writeBody(res, body, isWatched)
  }

  const write = (exchange: Exchange, response: RawResponse, lines: string, close: boolean) => {
    const now = performance.now()
    exchange.open = false
    if (!exchange.inCallback) inFlight.delete(exchange)
    observe.answered(exchange.endpoint, response.status, now - exchange.startedAt)
    const isWatched = pace.addHandled(exchange.runningSince === 0 ? 0 : now - exchange.runningSince)
    const writeAll = () => writeNow(exchange, response, lines, close, isWatched)
    // Of many answers in one callback the library gathers only the first 16 KB, and then makes a system call for each piece.
    if (exchange.inCallback && !isWatched) writeAll()
    else exchange.res.cork(writeAll)
  }

  /** The one place a response leaves: late, double and aborted answers end here without a trace. */
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
      origin: anyOrigin ? "" : req.getHeader(keys.origin),
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

  /** The end of the native callback. Only a request that is not answered yet can be aborted or late. */
  const leave = (exchange: Exchange) => {
    exchange.inCallback = false
    exchange.runningSince = 0
    if (!exchange.open) return
    inFlight.add(exchange)
    exchange.res.onAborted(() => {
      if (!exchange.open) return
      exchange.open = false
      if (exchange.cancel()) inFlight.delete(exchange)
    })
  }

  /** Runs what may throw: a throw out of a native callback would end the process, a lost one would hang the client. */
  const guarded = (exchange: Exchange, run: () => void) => {
    try {
      run()
    } catch (error) {
      fail(exchange, "defect", describeDefect(error))
    }
  }

  /** Not at once: until it is answered the library goes on to nothing that came behind, but hangs up on it. */
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

  const writeHead = makePrecomputedWriter(constantLines, requestIds)
  const writePrepared = (res: HttpResponse, req: HttpRequest, made: Precomputed, isWatched: boolean) => {
    writeHead(res, req, made)
    if (!anyOrigin) writeOrigin(res, req.getHeader(keys.origin))
    if (made.head.status.startsWith("304")) sendNoBody(res)
    else writeBody(res, made.body, isWatched)
  }

  const writeWatched = (res: HttpResponse, req: HttpRequest, made: Precomputed) => {
    res.cork(() => writePrepared(res, req, made, true))
  }

  const serve = (endpoint: Endpoint, head: boolean) => {
    const names = parameterNames(endpoint.path)
    const { bodyLimitBytes, prepared } = endpoint
    const wanted = endpoint.headers.map((name) => [name, headerKey(name)] as const)
    const countPrepared = observe.prepared(endpoint)

    const begin = (exchange: Exchange, req: HttpRequest, { hasEmptyKey }: HeadFacts) => {
      const params: Array<string> = []
      for (let i = 0; i < names.length; i++) {
        const value = percentDecode(req.getParameter(i))
        if (value === undefined) return fail(exchange, "bad_path")
        params.push(value)
      }
      const headers: Record<string, string> = {}
      for (const [name, key] of wanted) headers[name] = req.getHeader(key)
      if (hasEmptyKey && idempotencyHeader in headers) headers[idempotencyHeader] = unreadable
      const request = {
        id: exchange.requestId,
        method: req.getMethod().toUpperCase(),
        path: req.getUrl(),
        params,
        query: req.getQuery() ?? "",
        headers,
        address: endpoint.needsAddress ? callerAddress(exchange.res, req, options.trustProxy) : "",
        body: noBody,
      }
      const respond = (response: RawResponse) => guarded(exchange, () => answer(exchange, response))
      if (bodyLimitBytes === 0) {
        exchange.cancel = endpoint.handle(request, respond)
      } else if (Number(contentLengthOf(req)) > bodyLimitBytes) {
        fail(exchange, "body_too_large", String(bodyLimitBytes))
      } else {
        readBody(exchange, bodyLimitBytes, (body) => {
          exchange.cancel = endpoint.handle({ ...request, body }, respond)
        })
      }
    }

    const mayHaveBody = endpoint.method !== "get"
    return (res: HttpResponse, req: HttpRequest) => {
      const facts = mayHaveBody || contentLengthOf(req) !== "" ? readHead(req) : clearHead
      if (!facts.hasValidLength) return refuseLength(open(res, req, endpoint, head))
      if (prepared !== undefined && !head && !draining && !pace.isOver) {
        let made: Precomputed | undefined
        try {
          made = prepared(req)
        } catch (error) {
          return fail(open(res, req, endpoint, head), "defect", describeDefect(error))
        }
        if (made !== undefined) {
          countPrepared()
          return pace.add() ? writeWatched(res, req, made) : writePrepared(res, req, made, false)
        }
      }
      const exchange = open(res, req, endpoint, head)
      try {
        begin(exchange, req, facts)
      } catch (error) {
        fail(exchange, "defect", describeDefect(error))
      }
      leave(exchange)
    }
  }

  const endpointsOf = makeKnownPaths(endpoints)
  const unknownPath = makeUnknownPath((requestId, shape) => refuse("not_found", requestId, undefined, shape))
  const failUnknown = (exchange: Exchange) => {
    const { lines, response } = unknownPath(exchange.requestId, exchange.errorBody)
    answer(exchange, response, false, lines)
  }

  const mounted = options.mount?.(app)
  // The library looks at the rows in the order of their mounting: those that are fast come first.
  const [fast, others] = [endpoints.filter(isPrepared), endpoints.filter((e) => !isPrepared(e))]
  for (const endpoint of [...fast, ...others]) {
    app[endpoint.method](endpoint.path, serve(endpoint, false))
    if (endpoint.method === "get") app.head(endpoint.path, serve(endpoint, true))
  }
  app.options("/*", (res, req) => {
    const found = endpointsOf(req.getUrl())
    const closed = found.find((e) => e.sameOrigin)
    const exchange = open(res, req, closed, false)
    if (!hasValidLength(req)) return refuseLength(exchange)
    guarded(exchange, () => {
      if (found.length === 0) return failUnknown(exchange)
      const headers = { Allow: methodsOf(found) }
      answer(exchange, {
        status: 204,
        headers: closed === undefined ? { ...headers, ...preflightHeaders } : headers,
      })
    })
    leave(exchange)
  })
  app.any("/*", (res, req) => {
    const exchange = open(res, req, undefined, req.getMethod() === "head")
    if (!hasValidLength(req)) return refuseLength(exchange)
    guarded(exchange, () => {
      const found = endpointsOf(req.getUrl())
      if (found.length === 0) failUnknown(exchange)
      else fail(exchange, "method_not_allowed", methodsOf(found))
    })
    leave(exchange)
  })

  // Requests all have the same deadline, so one look at the oldest now and then is enough; no timer per request.
  const sweeper = setInterval(() => {
    const expired = performance.now() - options.deadlineMs
    for (const exchange of inFlight) {
      if (exchange.startedAt > expired) break
      fail(exchange, "deadline")
      exchange.cancel()
    }
  }, sweepMs)
  sweeper.unref()

  const stop = async (socket: us_listen_socket, withinMs: number) => {
    draining = true
    uWS.us_listen_socket_close(socket)
    const until = performance.now() + withinMs
    await mounted?.drain(withinMs / 2)
    while (inFlight.size > 0 && performance.now() < until) await new Promise((r) => setTimeout(r, 20))
    clearInterval(sweeper)
    app.close()
  }

  return new Promise((resolve, reject) => {
    const listening = (socket: us_listen_socket | false) => {
      if (!socket)
        return reject(new Error(`port ${options.port} on ${options.host} is in use or not allowed`))
      resolve({
        port: uWS.us_socket_local_port(socket),
        inFlight: () => inFlight.size,
        stop: (withinMs) => stop(socket, withinMs),
      })
    }
    // Sharing the port is the library's silent default; one process alone wants to be told. The four-argument form
    // exists in every version we load, though not in its types.
    type Listen = (host: string, port: number, options: number, done: typeof listening) => void
    const listen = app.listen.bind(app) as unknown as Listen
    listen(options.host, options.port, options.exclusive ? exclusivePort : 0, listening)
  })
}
