import type { HttpRequest, TemplatedApp, us_listen_socket } from "uWebSockets.js"
import type { Endpoint } from "./endpoint.ts"
import { makeEndpointHandlers } from "./endpoint-handler.ts"
import { type Exchange, type ExchangeOptions, type Exchanges, makeExchanges } from "./exchange.ts"
import { listenProblem } from "./listen-problem.ts"
import { addressGroup, type CallerAddress, makeCallerAddress } from "./request/caller-address.ts"
import { hasValidLength } from "./request/head.ts"
import { makeKnownPaths, methodsOf } from "./request/known-paths.ts"
import { preflightHeaders } from "./response/cross-origin.ts"
import { makeUnknownPath } from "./response/unknown-path.ts"
import { uWS } from "./uws.ts"

export interface ServerOptions extends ExchangeOptions {
  readonly host: string
  readonly port: number
  /** The name of the setting of the port, for error messages. Default: PORT. */
  readonly portSetting?: string
  /** Whether only this process may listen on the port. False lets several processes listen on the same port. */
  readonly exclusive: boolean
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly trustProxy: boolean
  /** Called once, if a request came through a proxy although `trustProxy` is false. */
  readonly onForwarded?: () => void
  /** Counts a request for an unknown path. Returns whether the address has made too many of them. */
  readonly limitUnknownPath?: (addressGroup: string) => boolean
  /** Adds handlers of another kind on the same port, such as the WebSocket handler. */
  readonly mount?: (app: TemplatedApp) => Mounted
}

/** Handlers that `mount` has added. They close their own connections when the server stops. */
export interface Mounted {
  drain(withinMs: number): Promise<void>
}

export interface Server {
  readonly port: number
  readonly inFlight: () => number
  /** Stops listening, waits at most `withinMs` for running requests, then closes all connections. */
  stop(withinMs: number): Promise<void>
}

const isPrepared = ({ prepared }: Endpoint): boolean => prepared !== undefined
const sweepMs = 250

/** Returns the paths of an endpoint: as its row says, and with a slash at the end, as some clients join addresses. */
const patternsOf = (path: string): ReadonlyArray<string> => (path.endsWith("/") ? [path] : [path, `${path}/`])

// The value of LIBUS_LISTEN_EXCLUSIVE_PORT. The library's types declare it in an enum that does not exist at run
// time.
const exclusivePort = 1

/** Adds handlers that respond to OPTIONS, to unknown paths (404) and to known paths with another method (405). */
const mountFallbacks = (
  app: TemplatedApp,
  exchanges: Exchanges,
  options: ServerOptions,
  addressOf: CallerAddress,
) => {
  const { limitUnknownPath } = options
  const { answer, fail, guarded, leave, open, refuseLength } = exchanges
  const endpointsOf = makeKnownPaths(options.endpoints)
  const unknownPath = makeUnknownPath((requestId, shape) =>
    options.refuse("not_found", requestId, undefined, shape),
  )
  const failUnknown = (exchange: Exchange, req: HttpRequest) => {
    if (limitUnknownPath?.(addressGroup(addressOf(exchange.res, req)))) {
      // JSON for browsers too, because making a page would cost more than the refused request.
      return answer(exchange, options.refuse("too_many_unknown", exchange.requestId))
    }
    const { lines, response } = unknownPath(exchange.requestId, exchange.errorBody)
    answer(exchange, response, false, lines)
  }

  app.options("/*", (res, req) => {
    const found = endpointsOf(req.getUrl())
    const sameOrigin = found.find((e) => e.sameOrigin)
    const exchange = open(res, req, sameOrigin, false)
    if (!hasValidLength(req)) return refuseLength(exchange)
    guarded(exchange, () => {
      if (found.length === 0) return failUnknown(exchange, req)
      const headers = { Allow: methodsOf(found) }
      answer(exchange, {
        status: 204,
        headers: sameOrigin === undefined ? { ...headers, ...preflightHeaders } : headers,
      })
    })
    leave(exchange)
  })
  app.any("/*", (res, req) => {
    const exchange = open(res, req, undefined, req.getMethod() === "head")
    if (!hasValidLength(req)) return refuseLength(exchange)
    guarded(exchange, () => {
      const found = endpointsOf(req.getUrl())
      if (found.length === 0) failUnknown(exchange, req)
      else fail(exchange, "method_not_allowed", methodsOf(found))
    })
    leave(exchange)
  })
}

/** Starts an HTTP server with these endpoints. Rejects if the port cannot be used. */
export const startServer = (options: ServerOptions): Promise<Server> => {
  const { endpoints, host, observe, port } = options
  const app = uWS.App()
  const exchanges = makeExchanges(options)
  const { inFlight, state } = exchanges

  const mounted = options.mount?.(app)
  const addressOf = makeCallerAddress(options.trustProxy, options.onForwarded)
  const handlerOf = makeEndpointHandlers(exchanges, observe, addressOf, (requestId, seconds, shape) =>
    options.refuse("overloaded", requestId, String(seconds), shape),
  )
  // The library tries routes in the order in which they were added. So endpoints with precomputed responses are added
  // first.
  const [fast, others] = [endpoints.filter(isPrepared), endpoints.filter((e) => !isPrepared(e))]
  for (const endpoint of [...fast, ...others]) {
    const handle = handlerOf(endpoint, false)
    for (const pattern of patternsOf(endpoint.path)) app[endpoint.method](pattern, handle)
    if (endpoint.method !== "get") continue
    const handleHead = handlerOf(endpoint, true)
    for (const pattern of patternsOf(endpoint.path)) app.head(pattern, handleHead)
  }
  mountFallbacks(app, exchanges, options, addressOf)

  // All requests have the same deadline, so one interval checks the oldest requests. No request needs a timer of its
  // own.
  const sweeper = setInterval(exchanges.failExpired, sweepMs)
  sweeper.unref()

  const stop = async (socket: us_listen_socket, withinMs: number) => {
    state.isDraining = true
    uWS.us_listen_socket_close(socket)
    const until = performance.now() + withinMs
    await mounted?.drain(withinMs / 2)
    while (inFlight.size > 0 && performance.now() < until) await new Promise((r) => setTimeout(r, 20))
    clearInterval(sweeper)
    app.close()
  }

  return new Promise((resolve, reject) => {
    const listening = (socket: us_listen_socket | false) => {
      // The library gives no reason.
      if (!socket)
        return void listenProblem(host, port, options.portSetting).then((problem) =>
          reject(new Error(problem ?? `cannot listen on port ${port} of ${host}`)),
        )
      resolve({
        port: uWS.us_socket_local_port(socket),
        inFlight: () => inFlight.size,
        stop: (withinMs) => stop(socket, withinMs),
      })
    }
    // By default the library shares the port with other processes without an error, so a single process asks for
    // exclusive use. The form of `listen` with four arguments exists in every version of the library that we load,
    // but not in its types.
    type Listen = (host: string, port: number, options: number, done: typeof listening) => void
    const listen = app.listen.bind(app) as unknown as Listen
    listen(host, port, options.exclusive ? exclusivePort : 0, listening)
  })
}
