import { Cause, type Context, Effect, Exit, Option, Result } from "effect"
import { CurrentOperation } from "../../actors/operation.ts"
import {
  Forbidden,
  isProblem,
  type Problem,
  type TooManyRequests,
  Unauthorized,
  type Unavailable,
} from "../../schema/errors.ts"
import { CurrentRequestTime } from "../postgres/request-time.ts"
import { type RequestTrace, RequestTraces } from "../telemetry/request-traces.ts"
import { beginDirect } from "./direct.ts"
import type { Endpoint, RawRequest, RawResponse } from "./endpoint.ts"
import { authHeaders, type Guards, idempotencyHeader, type RateHeaders } from "./guards.ts"
import { checkAllowed } from "./permission.ts"
import type { Principal } from "./principal.ts"
import { emptyInput, type Input, makeDecode, takesNothing } from "./request/decode-input.ts"
import { originOf, RequestOrigin, userAgentHeader } from "./request/request-origin.ts"
import { deprecationLines } from "./response/deprecation.ts"
import { makeEncode, privateHeaders } from "./response/encode-answer.ts"
import { withErrorCode } from "./response/error-code.ts"
import { type ErrorPage, problemResponse } from "./response/problem.ts"
import { isWrite, type Route, takesKey, workOf } from "./route.ts"

export interface DispatchOptions<R> {
  readonly guards: Guards["Service"]
  readonly context: Context.Context<R>
  readonly errorPage?: ErrorPage
  /** Whether every response is checked against its schema. Only tests set it, because it doubles the work. */
  readonly checkAnswers: boolean
}

const traceparentHeader = "traceparent"
const defaultBodyLimitBytes = 64 * 1024
interface Admitted {
  readonly principal: Principal | null
  readonly rate: RateHeaders | undefined
}
const handlerRequest = (request: RawRequest, principal: Principal | null, input: Input) => ({
  params: input.params,
  query: input.query,
  body: input.body,
  principal,
  headers: request.headers,
  requestId: request.id,
  path: request.path,
  search: request.query,
  address: request.address,
  rawBody: request.body,
})

/** Converts a route into an endpoint, which the server can mount. This module does not depend on uWebSockets.js. */
export const toEndpoint = Effect.fnUntraced(function* <R>(route: Route<R>, options: DispatchOptions<R>) {
  const { guards } = options
  const decode = makeDecode(route)
  const encode = makeEncode(route, options.checkAnswers)
  const writes = isWrite(route)
  const plainHandler = route.handler as (request: unknown) => Effect.Effect<unknown, unknown, R>
  // Only these routes can cause security events. Other reads are not slowed down.
  const hasOrigin = writes || route.needsAddress === true
  const handler = hasOrigin
    ? (request: RawRequest, principal: Principal | null, input: Input) =>
        Effect.provideService(
          plainHandler(handlerRequest(request, principal, input)),
          RequestOrigin,
          originOf(request, principal),
        )
    : (request: RawRequest, principal: Principal | null, input: Input) =>
        plainHandler(handlerRequest(request, principal, input))
  const keyed = takesKey(route)
  const prepared = route.prepared === undefined ? undefined : yield* route.prepared
  const direct = route.direct === undefined ? undefined : yield* route.direct

  const limit =
    route.limit === undefined || guards.limit === undefined
      ? undefined
      : guards.limit.bind(undefined, route.limit)

  /**
   * Counts the request against its rate limit before a missing permission is reported, so that refused requests count
   * too.
   */
  const limited = (
    request: RawRequest,
    principal: Principal | null,
  ): Effect.Effect<Admitted, Forbidden | TooManyRequests | Unavailable> => {
    const forbidden = checkAllowed(route, principal)
    const finish = (rate: RateHeaders | undefined) =>
      forbidden === undefined ? Effect.succeed({ principal, rate }) : Effect.fail(forbidden)
    return limit === undefined ? finish(undefined) : Effect.flatMapEager(limit(request, principal), finish)
  }

  const admit = (request: RawRequest) =>
    route.auth === "none"
      ? limited(request, null)
      : Effect.flatMapEager(guards.authenticate(route.auth, request), (principal) =>
          limited(request, principal?.via === "oauth" && route.auth === "optional" ? null : principal),
        )

  const perform = (request: RawRequest, { principal, rate }: Admitted) => {
    const input = decode(request)
    if (Result.isFailure(input)) return Effect.fail(input.failure)
    const answer = () =>
      Effect.map(handler(request, principal, input.success), (value) => encode(value, rate))
    return route.sensitive && principal?.twoFactor && principal.via === "session"
      ? Effect.flatMap(CurrentOperation, (operation) =>
          // A request that has committed its effect is only answered. Its code was checked before.
          operation?.committed === undefined ? Effect.flatMap(guards.freshCode(principal), answer) : answer(),
        )
      : answer()
  }

  // A public route without input and rate limit needs no checks, so its handler is called directly.
  const isUnguarded = route.auth === "none" && limit === undefined && takesNothing(route)
  const produce = isUnguarded
    ? (request: RawRequest) =>
        Effect.map(handler(request, null, emptyInput), (value) => encode(value, undefined))
    : (request: RawRequest) => Effect.flatMapEager(admit(request), (admitted) => perform(request, admitted))

  const once = Effect.fnUntraced(function* (key: string, request: RawRequest) {
    // A replayed response also counts against the rate limit. It also requires permission, because the first request
    // may have used another API key of the same user, with more permissions.
    const answered = (admitted: Admitted) =>
      Effect.exit(Effect.suspend(() => perform(request, admitted))).pipe(
        Effect.map((exit) => settle(exit, request)),
        Effect.provideContext(options.context),
      )
    const ended = Effect.fnUntraced(function* (refused: Unauthorized | Forbidden) {
      const repeated = yield* guards.afterEnd(key, route.id, request, (principal) =>
        answered({ principal, rate: undefined }),
      )
      return repeated ?? (yield* refused)
    })
    const once = Effect.flatMapEager(admit(request), (admitted) =>
      guards.once(key, route.id, request, admitted.principal, answered(admitted)),
    )
    return yield* route.endsLogin
      ? Effect.catchIf(
          once,
          (failure) => failure instanceof Unauthorized || failure instanceof Forbidden,
          ended,
        )
      : once
  })

  const refuse = (problem: Problem | undefined, request: RawRequest): RawResponse => {
    const response = problemResponse(problem, request.id, route.errorBody, options.errorPage)
    return route.auth === "none" || writes
      ? response
      : { ...response, headers: { ...response.headers, ...privateHeaders } }
  }

  /**
   * Converts the result of a finished run into a response: the returned value, a declared error, or a 500 without
   * details.
   */
  const settle = (exit: Exit.Exit<RawResponse, unknown>, request: RawRequest): RawResponse => {
    if (Exit.isSuccess(exit)) return withErrorCode(exit.value)
    const failure = Cause.findErrorOption(exit.cause)
    if (Option.isSome(failure) && isProblem(failure.value)) return refuse(failure.value, request)
    // A run that was only interrupted, for example because the client disconnected, is not logged.
    if (!Cause.hasInterruptsOnly(exit.cause)) {
      fork(Effect.logError("request failed", { route: route.id, request_id: request.id }, exit.cause))
    }
    return refuse(undefined, request)
  }

  const fork = Effect.runForkWith(options.context)
  const work = workOf(route)
  const traces = work === undefined ? undefined : yield* RequestTraces
  const spanName = `${route.method === "del" ? "DELETE" : route.method.toUpperCase()} ${route.path}`

  /** Runs a request as the first span of its trace. */
  const traced = (
    { parent }: RequestTrace,
    request: RawRequest,
    run: Effect.Effect<RawResponse, unknown, R>,
  ) =>
    Effect.useSpan(
      spanName,
      {
        ...(parent === undefined ? { root: true } : { parent }),
        kind: "server",
        attributes: {
          "http.request.method": request.method,
          "http.route": route.path,
          request_id: request.id,
        },
      },
      (span) =>
        Effect.map(Effect.exit(Effect.withParentSpan(run, span, { captureStackTrace: false })), (exit) => {
          const response = settle(exit, request)
          span.attribute("http.response.status_code", response.status)
          return response
        }),
    )
  const endpoint: Endpoint = {
    method: route.method,
    path: route.path,
    headers: [
      ...(route.auth === "none" ? [] : authHeaders),
      ...(keyed ? [idempotencyHeader] : []),
      ...(hasOrigin ? [userAgentHeader] : []),
      ...(traces === undefined ? [] : [traceparentHeader]),
      ...(route.headers ?? []),
    ],
    // Security events contain the address. The Idempotency-Keys of anonymous callers are distinguished by it too.
    needsAddress: hasOrigin || limit !== undefined,
    bodyLimitBytes:
      route.body === undefined && !route.rawBody ? 0 : (route.bodyLimitBytes ?? defaultBodyLimitBytes),
    handle: (request, respond) => {
      const key = request.headers[idempotencyHeader]
      // Suspended, because a request that has waited is begun where nothing catches an exception.
      const untraced = Effect.suspend(() =>
        key === undefined || key === "" ? produce(request) : once(key, request),
      )
      const trace = traces?.start(request.headers[traceparentHeader] ?? "")
      if (direct !== undefined && trace === undefined) {
        const cancel = beginDirect(direct, request, {
          respond,
          refuse: (problem) => refuse(problem, request),
          defect: (error) => settle(Exit.die(error), request),
        })
        if (cancel !== undefined) return cancel
      }
      const run = trace === undefined ? untraced : traced(trace, request, untraced)
      const { discardAt } = request
      const fiber = fork(
        discardAt === undefined
          ? run
          : Effect.provideService(run, CurrentRequestTime, {
              requestId: request.id,
              discardAt,
              isStrict: writes,
              hasWritten: false,
            }),
      )
      fiber.addObserver((exit) => respond(settle(exit, request)))
      return () => {
        // A write continues when the client disconnects. If it were interrupted after its commit, it would not
        // publish the change.
        if (!writes) fiber.interruptUnsafe()
        return !writes
      }
    },
    ...(prepared === undefined ? {} : { prepared }),
    ...(work === undefined ? {} : { work }),
    ...(route.errorBody === undefined ? {} : { errorBody: route.errorBody }),
    ...(route.deprecated === undefined ? {} : { deprecationLines: deprecationLines(route.deprecated) }),
    ...(route.sameOrigin === undefined ? {} : { sameOrigin: route.sameOrigin }),
  }
  return endpoint
})
