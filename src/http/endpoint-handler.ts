import type { HttpRequest, HttpResponse } from "uWebSockets.js"
import type { Endpoint, Precomputed, RawResponse } from "./endpoint.ts"
import type { Exchange, Exchanges, Observer } from "./exchange.ts"
import { idempotencyHeader } from "./guards.ts"
import { makeRefusals } from "./limits/refusals.ts"
import { noBody } from "./request/body.ts"
import type { CallerAddress } from "./request/caller-address.ts"
import { announcesBody, clearHead, contentLengthOf, type HeadFacts, readHead } from "./request/head.ts"
import { headerKey } from "./request/header-key.ts"
import { parameterNames, percentDecode } from "./request/path.ts"
import { makePrecomputedWriters, type PrecomputedWriter } from "./response/precomputed.ts"
import { sendNoBody, writeBody } from "./response/write-body.ts"

/**
 * An invalid value that replaces an Idempotency-Key which cannot be read. So the request is refused, and not run
 * without a key.
 */
const unreadable = "\ufffd"
const originKey = headerKey("origin")

/**
 * Makes the uWebSockets.js handlers of endpoints. A handler sends a precomputed response if there is one; otherwise
 * it calls `handle` of the endpoint.
 */
export const makeEndpointHandlers = (
  exchanges: Exchanges,
  observe: Observer,
  addressOf: CallerAddress,
  overloaded: (requestId: string, seconds: number, shape: Endpoint["errorBody"]) => RawResponse,
) => {
  const {
    answer,
    crossOrigin,
    fail,
    failDefect,
    guarded,
    leave,
    open,
    pace,
    readBody,
    refuseLength,
    skipBody,
    state,
  } = exchanges
  const { anyOrigin, writeOrigin } = crossOrigin

  const writerFor = makePrecomputedWriters(crossOrigin, exchanges.requestIds)
  const writePrepared = (
    writeHead: PrecomputedWriter,
    res: HttpResponse,
    req: HttpRequest,
    made: Precomputed,
    isWatched: boolean,
  ) => {
    writeHead(res, req, made)
    if (!anyOrigin) writeOrigin(res, req.getHeader(originKey))
    if (made.head.code === 304) sendNoBody(res)
    else writeBody(res, made.body, isWatched)
  }

  const refuseLater = makeRefusals(answer, overloaded)
  const refuseOverload = (exchange: Exchange) => {
    const bodyLimitBytes = exchange.endpoint?.bodyLimitBytes ?? 0
    if (bodyLimitBytes === 0) refuseLater(exchange)
    else skipBody(exchange, bodyLimitBytes, () => refuseLater(exchange))
  }

  const writeWatched = (
    writeHead: PrecomputedWriter,
    res: HttpResponse,
    req: HttpRequest,
    made: Precomputed,
  ) => {
    res.cork(() => writePrepared(writeHead, res, req, made, true))
  }

  return (endpoint: Endpoint, head: boolean) => {
    const names = parameterNames(endpoint.path)
    const { bodyLimitBytes, prepared } = endpoint
    const wanted = endpoint.headers.map((name) => [name, headerKey(name)] as const)
    const writeHead = writerFor(endpoint.deprecationLines)
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
        address: endpoint.needsAddress ? addressOf(exchange.res, req) : "",
        body: noBody,
        arrivedAt: exchange.startedAt,
      }
      const respond = (response: RawResponse) => guarded(exchange, () => answer(exchange, response))
      if (bodyLimitBytes === 0) {
        exchange.cancel = endpoint.handle(request, respond)
      } else if (Number(contentLengthOf(req)) > bodyLimitBytes) {
        fail(exchange, "body_too_large", String(bodyLimitBytes))
      } else {
        readBody(exchange, bodyLimitBytes, (body) => {
          exchange.cancel = endpoint.handle({ ...request, body, arrivedAt: performance.now() }, respond)
        })
      }
    }

    const mayHaveBody = endpoint.method !== "get"
    return (res: HttpResponse, req: HttpRequest) => {
      const facts = mayHaveBody || announcesBody(req) ? readHead(req) : clearHead
      if (!facts.hasValidLength) return refuseLength(open(res, req, endpoint, head))
      if (prepared !== undefined && !head && !state.isDraining && !pace.isOver) {
        let made: Precomputed | undefined
        try {
          made = prepared(req)
        } catch (error) {
          return failDefect(open(res, req, endpoint, head), error)
        }
        if (made !== undefined) {
          countPrepared(made.head.code)
          return pace.add()
            ? writeWatched(writeHead, res, req, made)
            : writePrepared(writeHead, res, req, made, false)
        }
      }
      const exchange = open(res, req, endpoint, head)
      try {
        if (endpoint.refuses?.()) refuseOverload(exchange)
        else begin(exchange, req, facts)
      } catch (error) {
        failDefect(exchange, error)
      }
      leave(exchange)
    }
  }
}
