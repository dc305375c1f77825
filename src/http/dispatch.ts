import { type Context, Effect, Exit, type Fiber, Result, Schema } from "effect"
import { Forbidden, isProblem } from "../../schema/errors.ts"
import { decoder, parseJsonBody, parseQueryText } from "./decode.ts"
import type { Endpoint, RawRequest, RawResponse } from "./exchange.ts"
import { authHeaders, type Guards, idempotencyHeader, type RateHeaders } from "./guards.ts"
import { parameterNames } from "./path.ts"
import type { Principal } from "./principal.ts"
import { problemResponse } from "./problem-response.ts"
import { Reply } from "./reply.ts"
import type { Route } from "./route.ts"

export interface DispatchOptions<R> {
  readonly guards: Guards["Service"]
  readonly context: Context.Context<R>
  /** Checks every answer against its schema. For tests: it doubles the work. */
  readonly checkAnswers: boolean
}

const jsonHeaders = { "Content-Type": "application/json" }
const defaultBodyLimitBytes = 64 * 1024
const noInput = {}

const makeDecode = (route: Route) => {
  const params = decoder(Schema.Struct(route.params ?? {}), "path")
  const query = decoder(Schema.Struct(route.query ?? {}), "query")
  const body = route.body === undefined || route.rawBody ? undefined : decoder(route.body, "body")
  const names = parameterNames(route.path)
  const plain = names.length === 0 && route.query === undefined && body === undefined

  return Effect.fnUntraced(function* (request: RawRequest) {
    if (plain) return { params: noInput, query: noInput, body: undefined }
    const given = Object.fromEntries(names.map((name, i) => [name, request.params[i]]))
    return {
      params: yield* Effect.fromResult(params(given)),
      query:
        route.query === undefined
          ? noInput
          : yield* Effect.fromResult(Result.flatMap(parseQueryText(request.query), query)),
      body:
        body === undefined
          ? undefined
          : yield* Effect.fromResult(Result.flatMap(parseJsonBody(request.body), body)),
    }
  })
}

const makeEncode = (route: Route, checkAnswers: boolean) => {
  const status = route.status ?? 200
  const isAnswer = Schema.is(Schema.toEncoded(route.success))
  const json = (value: unknown): string => {
    if (checkAnswers && !isAnswer(value)) {
      throw new Error(`${route.id} answered what its schema does not allow: ${JSON.stringify(value)}`)
    }
    return JSON.stringify(value) ?? "null"
  }
  return (value: unknown, rate: RateHeaders | undefined): RawResponse => {
    if (!(value instanceof Reply)) {
      return {
        status,
        headers: rate === undefined ? jsonHeaders : { ...jsonHeaders, ...rate },
        body: json(value),
      }
    }
    return value.raw === undefined
      ? {
          status: value.status ?? status,
          headers: { ...jsonHeaders, ...rate, ...value.headers },
          body: json(value.value),
        }
      : { status: value.status ?? status, headers: { ...rate, ...value.headers }, body: value.raw }
  }
}

const checkAllowed = (route: Route, principal: Principal | null): Forbidden | undefined => {
  if (principal === null) return undefined
  if (principal.via === "oauth" && !route.oauth) {
    return new Forbidden({ error: "A token of the authorization-code flow does not reach this operation." })
  }
  if (route.scope !== undefined && !principal.scopes.has(route.scope)) {
    return new Forbidden({ error: `This needs the scope ${route.scope}.`, details: { scope: route.scope } })
  }
  return undefined
}

/** Turns one row of the table into what the server mounts. Nothing here knows uWebSockets.js. */
export const toEndpoint = Effect.fnUntraced(function* <R>(route: Route<R>, options: DispatchOptions<R>) {
  const { guards } = options
  const decode = makeDecode(route)
  const encode = makeEncode(route, options.checkAnswers)
  const handler = route.handler as (request: unknown) => Effect.Effect<unknown, unknown, R>
  const writes = route.method !== "get"
  const prepared = route.prepared === undefined ? undefined : yield* route.prepared

  const run = Effect.fnUntraced(function* (request: RawRequest) {
    let principal = route.auth === "none" ? null : yield* guards.authenticate(route.auth, request)
    if (principal?.via === "oauth" && route.auth === "optional") principal = null
    const rate = route.limit === undefined ? undefined : yield* guards.limit(route.limit, request, principal)
    const forbidden = checkAllowed(route, principal)
    if (forbidden !== undefined) return yield* forbidden
    const input = yield* decode(request)
    if (route.sensitive && principal?.twoFactor && principal.via === "session")
      yield* guards.freshCode(principal)
    const value = yield* handler({
      ...input,
      principal,
      headers: request.headers,
      requestId: request.id,
      address: request.address,
      path: request.path,
      rawBody: request.body,
    })
    return encode(value, rate)
  })

  const settle = (
    request: RawRequest,
    effect: Effect.Effect<RawResponse, unknown, R>,
  ): Effect.Effect<RawResponse, never, R> =>
    effect.pipe(
      Effect.catch((error) =>
        isProblem(error)
          ? Effect.succeed(problemResponse(error, request.id, route.errorBody))
          : Effect.die(error),
      ),
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logError("request failed", { route: route.id, request_id: request.id }, cause),
          problemResponse(undefined, request.id, route.errorBody),
        ),
      ),
    )

  const answer = (request: RawRequest): Effect.Effect<RawResponse, never, R> => {
    const key = writes ? request.headers[idempotencyHeader] : undefined
    if (key === undefined || key === "") return settle(request, run(request))
    return settle(
      request,
      Effect.gen(function* () {
        const principal = route.auth === "none" ? null : yield* guards.authenticate(route.auth, request)
        const once = Effect.provideContext(settle(request, run(request)), options.context)
        return yield* guards.once(key, route.id, request, principal, once)
      }),
    )
  }

  const fork = Effect.runForkWith(options.context)
  const endpoint: Endpoint = {
    method: route.method,
    path: route.path,
    headers: [
      ...(route.auth === "none" ? [] : authHeaders),
      ...(writes ? [idempotencyHeader] : []),
      ...(route.headers ?? []),
    ],
    // Callers without a name are told apart by their address when they repeat a request.
    needsAddress:
      route.limit !== undefined || (writes && (route.auth === "none" || route.auth === "optional")),
    bodyLimitBytes:
      route.body === undefined && !route.rawBody ? 0 : (route.bodyLimitBytes ?? defaultBodyLimitBytes),
    handle: (request, respond) => {
      const fiber: Fiber.Fiber<RawResponse> = fork(answer(request))
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) respond(exit.value)
        else respond(problemResponse(undefined, request.id, route.errorBody))
      })
      return () => fiber.interruptUnsafe()
    },
    ...(prepared === undefined ? {} : { prepared }),
    ...(route.errorBody === undefined ? {} : { errorBody: route.errorBody }),
  }
  return endpoint
})
