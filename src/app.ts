import { Effect, type Layer, ManagedRuntime, References } from "effect"
import { ensureAdmin } from "./accounts/admins.ts"
import { appLayer, type ServiceOptions } from "./app-layer.ts"
import { registerServiceMetrics } from "./app-metrics.ts"
import { Bus } from "./cluster/bus.ts"
import { OwnAddress } from "./config/own-address.ts"
import type { Config } from "./config/read-config.ts"
import { seedDemo } from "./demo/demo.ts"
import { renewDemoSecrets } from "./demo/logins.ts"
import { toEndpoint } from "./http/dispatch.ts"
import { Guards } from "./http/guards.ts"
import { makeAdmission } from "./http/limits/admission.ts"
import { RateLimits } from "./http/limits/rate-limits.ts"
import { observeRequests } from "./http/request-metrics.ts"
import { refusalResponse } from "./http/response/problem.ts"
import { type Server, type ServerOptions, startServer } from "./http/server.ts"
import { mountLive } from "./live/socket.ts"
import { LiveSessions } from "./live/socket-sessions.ts"
import {
  areMetricsOff,
  endpointsOfMainPort,
  metricsOff,
  startMetricsServer,
} from "./operations/metrics-server.ts"
import { Readiness } from "./operations/readiness.ts"
import { type RouteServices, routes } from "./routes.ts"
import { withoutInfo } from "./telemetry/log.ts"
import { Metrics } from "./telemetry/metrics.ts"
import { errorPage } from "./web/error-page.ts"
import { endpointWithRecaptcha, recaptchaWidget } from "./web/recaptcha.ts"
import { endpointWithNotice, siteNotice, withNotice } from "./web/site-notice.ts"

const prepareData = Effect.fnUntraced(function* (config: Config) {
  yield* ensureAdmin
  // The demo data is created by the same services as real data. Its security events are not worth a log line.
  if (config.demo)
    yield* Effect.provideService(seedDemo, References.MinimumLogLevel, withoutInfo(config.logLevel))
  // In production no demo secrets are set, because the startup check has already rejected a database with usable demo
  // data.
  if (!config.production) yield* renewDemoSecrets
})

const untrustedProxy =
  "a request has X-Forwarded-For, but TRUST_PROXY is off, so rate limits and security events use the address of the " +
  "proxy: set TRUST_PROXY=on if the service runs behind a proxy that adds this header; otherwise ignore this message"

/** How long a request may wait before it is begun. With half a second for its work, it is answered within two seconds. */
const maxWaitMs = 1500

export interface Service {
  readonly port: number
  readonly runtime: ManagedRuntime.ManagedRuntime<Layer.Success<ReturnType<typeof appLayer>>, unknown>
  stop(): Promise<void>
}

/** Starts the service on its port. It is ready to serve when the promise resolves. */
export const startService = async (
  surroundings: ServiceOptions,
  options: { port: number; exclusive: boolean },
) => {
  const { config } = surroundings
  const runtime = ManagedRuntime.make(appLayer(surroundings))
  let metricsServer: Server | undefined
  try {
    const context = await runtime.context()
    const { metrics, readiness, sessions, endpoints, limits } = await runtime.runPromise(
      Effect.gen(function* () {
        const dispatch = {
          guards: yield* Guards,
          context: yield* Effect.context<RouteServices>(),
          errorPage,
          checkAnswers: surroundings.checkAnswers ?? false,
        }
        const bus = yield* Bus
        const readiness = yield* Readiness
        if (surroundings.peersPossible && config.redisUrl !== undefined)
          readiness.add(
            "redis",
            Effect.sync(() => (bus.isRedisConnected() ? "ok" : "away")),
          )
        return {
          metrics: yield* Metrics,
          readiness,
          sessions: yield* LiveSessions,
          limits: yield* RateLimits,
          endpoints: yield* Effect.forEach(routes, (route) => toEndpoint(route, dispatch)),
        }
      }),
    )
    if (surroundings.preparesData) await runtime.runPromise(prepareData(config))
    const fork = Effect.runForkWith(context)
    const notice = siteNotice(config)
    const refuse: ServerOptions["refuse"] = (kind, requestId, details, shape) => {
      if (kind === "defect") fork(Effect.logError("request failed", { request_id: requestId }, details))
      const response = refusalResponse(kind, requestId, details, shape, errorPage)
      return notice === undefined ? response : withNotice(response, notice)
    }
    const admission = makeAdmission({
      maxWaitMs: surroundings.maxWaitMs ?? maxWaitMs,
      overloaded: (requestId, seconds, shape) => refuse("overloaded", requestId, String(seconds), shape),
    })
    const ownAddresses = [config.baseUrl, config.authUrl, config.webUrl]
    const shared = {
      host: config.host,
      exclusive: options.exclusive,
      allowedOrigins: config.allowedOrigins,
      isHttps: config.baseUrl.startsWith("https:"),
      trustProxy: config.trustProxy === "on",
      deadlineMs: config.requestDeadlineSeconds * 1000,
      observe: observeRequests(metrics),
      refuse,
    }
    const widget = recaptchaWidget(config)
    const shownEndpoints = endpoints
      .map(admission.admit)
      .map((one) => (widget === undefined ? one : endpointWithRecaptcha(one, widget)))
      .map((one) => (notice === undefined ? one : endpointWithNotice(one, notice)))
    metricsServer = await startMetricsServer(endpoints, config.metricsPort, {
      ...shared,
      portSetting: "METRICS_PORT",
    })
    const server: Server = await startServer({
      ...shared,
      port: options.port,
      endpoints: endpointsOfMainPort(shownEndpoints, config),
      onForwarded: () => void fork(Effect.logWarning(untrustedProxy)),
      limitUnknownPath: (address) => limits.exceeds("unknown_path", "address", address) !== undefined,
      mount: (app) =>
        mountLive(app, {
          sessions,
          // The console's own origin must be allowed: a browser sends Origin for a WebSocket even if it is the same
          // origin.
          allowedOrigins: [
            ...config.allowedOrigins,
            ...ownAddresses.map((address) => new URL(address).origin),
          ],
          maxSockets: config.liveMaxSockets,
          maxSocketsPerAddress: config.rateLimit === "on" ? config.liveMaxSocketsPerAddress : undefined,
          trustProxy: config.trustProxy === "on",
          defect: (error) => void fork(Effect.logError("live socket failed", error)),
        }),
    })
    if (surroundings.preparesData && areMetricsOff(config)) fork(Effect.logWarning(metricsOff))
    await runtime.runPromise(registerServiceMetrics(server, admission))
    await runtime.runPromise(
      OwnAddress.use((own) => Effect.sync(() => own.listening(config.host, server.port))),
    )
    return {
      port: server.port,
      runtime,
      stop: async () => {
        readiness.drain()
        await server.stop(config.drainSeconds * 1000)
        await metricsServer?.stop(0)
        await runtime.dispose()
      },
    }
  } catch (error) {
    await metricsServer?.stop(0)
    await runtime.dispose()
    throw error
  }
}
