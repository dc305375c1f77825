import { Effect, type Layer, ManagedRuntime, References } from "effect"
import { Mailboxes } from "../actors/mailboxes.ts"
import { ensureAdmin } from "./accounts/admins.ts"
import { appLayer, type ServiceOptions } from "./app-layer.ts"
import { Bus } from "./cluster/bus.ts"
import type { Config } from "./config/config.ts"
import { OwnAddress } from "./config/own-address.ts"
import { seedDemo } from "./demo/demo.ts"
import { renewDemoSecrets } from "./demo/logins.ts"
import { toEndpoint } from "./http/dispatch.ts"
import { Guards } from "./http/guards.ts"
import { type Admission, makeAdmission } from "./http/limits/admission.ts"
import { RateLimits } from "./http/limits/rate-limits.ts"
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
import { Sql } from "./postgres/sql.ts"
import { type RouteServices, routes } from "./routes.ts"
import { registerLoadGauges } from "./telemetry/load-gauges.ts"
import { withoutInfo } from "./telemetry/log.ts"
import { Metrics } from "./telemetry/metrics.ts"
import { type Backlog, Outbox } from "./turns/outbox.ts"
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

/** Registers the gauges that are read when the metrics are requested. */
const registerGauges = (server: Server, admission: Admission) =>
  Effect.gen(function* () {
    const metrics = yield* Metrics
    const sql = yield* Sql
    const bus = yield* Bus
    const outbox = yield* Outbox
    const mailboxes = yield* Mailboxes
    let backlog: Backlog = { waiting: 0, oldestSeconds: 0 }
    metrics.before(
      outbox.backlog.pipe(
        Effect.tap((found) =>
          Effect.sync(() => {
            backlog = found
          }),
        ),
        Effect.ignore,
      ),
    )
    metrics.gauge("http_requests_in_flight", "Requests without a response yet", server.inFlight)
    metrics.gauge(
      "postgres_statements_running",
      "Statements sent and not completed",
      () => sql.stats().running,
    )
    metrics.gauge(
      "postgres_statements_waiting",
      "Statements that wait for a free connection",
      () => sql.stats().waiting,
    )
    registerLoadGauges(metrics, admission)
    metrics.gauge("actors_active", "Entities in memory", () => mailboxes.total().cells)
    metrics.gauge("actors_mailbox_depth", "Turns running or waiting", () => mailboxes.total().waiting)
    metrics.gauge(
      "outbox_lag_seconds",
      "Age of the oldest mail or SMS that is still to be sent",
      () => backlog.oldestSeconds,
    )
    metrics.gauge("outbox_waiting", "Mail and SMS that are still to be sent", () => backlog.waiting)
    metrics.gauge("bus_peers", "Other processes known", () => bus.stats().peers)
    metrics.gauge(
      "bus_gaps_total",
      "Times that this process may have missed messages of others",
      () => bus.stats().gaps,
    )
    metrics.gauge(
      "bus_marks_held",
      "Marks of running writes, whose keys this process does not cache",
      () => bus.stats().marks,
    )
    metrics.gauge(
      "bus_waits_expired_total",
      "Writes that waited until the lease of a process without an answer had expired",
      () => bus.stats().expired,
    )
    metrics.gauge(
      "bus_leases_lost_total",
      "Times that this process lost its lease and cleared its caches",
      () => bus.stats().leasesLost,
    )
  })

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
      observe: metrics.observer,
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
    await runtime.runPromise(registerGauges(server, admission))
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
