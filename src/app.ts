import { Clock, Effect, Layer, ManagedRuntime } from "effect"
import { Deadlines } from "../actors/deadlines.ts"
import { LootboxActors } from "../actors/lootbox.ts"
import { Mailboxes } from "../actors/mailboxes.ts"
import { OrderActors } from "../actors/order.ts"
import { TransferActors } from "../actors/transfer.ts"
import { SessionActors } from "../actors/two-factor-session.ts"
import { AccountAnswers } from "./accounts/account-response-cache.ts"
import { ensureAdmin } from "./accounts/admins.ts"
import { Callers } from "./accounts/caller-cache.ts"
import { guards } from "./accounts/guards-layer.ts"
import { people } from "./accounts/layer.ts"
import { identity } from "./accounts/login-layer.ts"
import { type PasswordOptions, Passwords } from "./accounts/passwords.ts"
import { OneTimeCodes } from "./accounts/sessions/one-time-codes.ts"
import { RefreshTokens } from "./accounts/sessions/refresh-tokens.ts"
import { Tokens } from "./accounts/sessions/tokens.ts"
import { Users } from "./accounts/user-store.ts"
import { Bus } from "./cluster/bus.ts"
import { hearOutsiders } from "./cluster/cli-notifications.ts"
import { type BusSurroundings, betweenProcesses } from "./cluster/layer.ts"
import { AppConfig, type Config } from "./config/config.ts"
import { OwnAddress } from "./config/own-address.ts"
import { masterKeys } from "./config/secret-keys.ts"
import { Seal } from "./crypto/envelope-encryption.ts"
import { seedDemo } from "./demo/demo.ts"
import { renewDemoSecrets } from "./demo/logins.ts"
import { directory } from "./directory/layer.ts"
import { toEndpoint } from "./http/dispatch.ts"
import { Guards } from "./http/guards.ts"
import { refusalResponse } from "./http/response/problem.ts"
import { type Server, startServer } from "./http/server.ts"
import { keyCheck } from "./keys/sealed-keys-check.ts"
import { live } from "./live/layer.ts"
import { Said } from "./live/local-publish.ts"
import { CrowdedChannels } from "./live/oversized-channels.ts"
import { publisher } from "./live/publisher.ts"
import { LiveSessions } from "./live/sessions.ts"
import { mountLive } from "./live/socket.ts"
import { delivery } from "./mail/delivery.ts"
import { Market } from "./market/market.ts"
import { housekeeping } from "./operations/housekeeping.ts"
import { Readiness } from "./operations/readiness.ts"
import { sales } from "./orders/layer.ts"
import { DatabaseClock, makeDatabaseTime } from "./postgres/database-clock.ts"
import { Sql } from "./postgres/sql.ts"
import { type RouteServices, routes } from "./routes.ts"
import { web } from "./sign-in/layer.ts"
import { logging } from "./telemetry/log.ts"
import { Metrics } from "./telemetry/metrics.ts"
import { moves } from "./transfers/layer.ts"
import { entityStore } from "./turns/entity-store.ts"
import { Outbox } from "./turns/outbox.ts"
import { endpointWithNotice, siteNotice, withNotice } from "./web/site-notice.ts"

export interface Surroundings extends BusSurroundings {
  readonly config: Config
  /** Makes sure of the admin and the demo data before serving. One process of a service does it. */
  readonly preparesData?: boolean
  /** Checks every answer against its schema. */
  readonly checkAnswers?: boolean
  /** How much a password's hash costs, where that is not left to the service. */
  readonly passwords?: PasswordOptions
}

const liveCheckMs = 1000

/** The wiring diagram of the service, from the ground up. */
const appLayer = (surroundings: Surroundings) => {
  const { config, database } = surroundings
  const keys = masterKeys(config)

  const ground = Layer.mergeAll(Layer.succeed(AppConfig, config), logging(config), Metrics.layer)
  const store = Layer.mergeAll(
    DatabaseClock.layer,
    Outbox.layer,
    betweenProcesses(surroundings),
    Readiness.layer,
    keyCheck,
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Sql.layer({
          connection: database,
          poolSize: config.poolSize,
          statementTimeoutMs: config.statementTimeoutMs,
        }),
        Seal.layer({ keys }),
        OneTimeCodes.layer({ keys }),
        RefreshTokens.layer({ keys }),
        Passwords.layer(surroundings.passwords),
      ),
    ),
  )
  // Another node made the token, or will be shown it: neither's own clock counts.
  const tokenFacts = { keys, issuer: config.baseUrl, accessSeconds: config.accessTokenSeconds }
  const tokens = Tokens.layer(tokenFacts).pipe(Layer.provide(Layer.effect(Clock.Clock, makeDatabaseTime)))
  const services = Layer.mergeAll(AccountAnswers.layer, Users.layer, Market.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(Callers.layer, tokens)),
  )
  const actors = Layer.mergeAll(
    OrderActors.layer,
    SessionActors.layer,
    TransferActors.layer,
    LootboxActors.layer,
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(Deadlines.layer({ intervalMs: config.sweepIntervalMs }), Mailboxes.layer),
    ),
    Layer.provideMerge(Layer.mergeAll(entityStore, publisher(surroundings))),
    Layer.provideMerge(Layer.mergeAll(Said.layer, CrowdedChannels.layer)),
  )
  return Layer.mergeAll(live({ checkMs: liveCheckMs }), web).pipe(
    Layer.provideMerge(sales(keys)),
    Layer.provideMerge(
      Layer.mergeAll(guards, directory, moves, people, delivery, housekeeping, hearOutsiders(surroundings)),
    ),
    Layer.provideMerge(identity),
    Layer.provideMerge(actors),
    Layer.provideMerge(services),
    Layer.provideMerge(store),
    Layer.provideMerge(ground),
  )
}

const prepareData = Effect.fnUntraced(function* (config: Config) {
  yield* ensureAdmin
  if (config.demo) yield* seedDemo
  // A production start has refused demo data that is usable, and sets no password but the administrator's.
  if (!config.production) yield* renewDemoSecrets
})

/** Readings of the parts, taken when somebody asks for the metrics. */
const watch = (server: Server) =>
  Effect.gen(function* () {
    const metrics = yield* Metrics
    const sql = yield* Sql
    const bus = yield* Bus
    const outbox = yield* Outbox
    const mailboxes = yield* Mailboxes
    let outboxLagSeconds = 0
    metrics.before(
      outbox.lagSeconds.pipe(
        Effect.tap((lag) =>
          Effect.sync(() => {
            outboxLagSeconds = lag
          }),
        ),
        Effect.ignore,
      ),
    )
    metrics.gauge("http_requests_in_flight", "Requests being answered", server.inFlight)
    metrics.gauge(
      "postgres_statements_running",
      "Statements sent and not answered",
      () => sql.stats().running,
    )
    metrics.gauge("actors_active", "Entities in memory", () => mailboxes.total().cells)
    metrics.gauge("actors_mailbox_depth", "Turns running or waiting", () => mailboxes.total().waiting)
    metrics.gauge(
      "outbox_lag_seconds",
      "How long the oldest letter has waited that is still to be sent",
      () => outboxLagSeconds,
    )
    metrics.gauge("bus_peers", "Other processes known", () => bus.stats().peers)
    metrics.gauge("bus_gaps_total", "Times the bus may have missed messages", () => bus.stats().gaps)
  })

export interface Service {
  readonly port: number
  readonly runtime: ManagedRuntime.ManagedRuntime<Layer.Success<ReturnType<typeof appLayer>>, unknown>
  stop(): Promise<void>
}

/** Brings the service up on its port; what it returns is ready to serve. */
export const startService = async (
  surroundings: Surroundings,
  options: { port: number; exclusive: boolean },
) => {
  const { config } = surroundings
  const runtime = ManagedRuntime.make(appLayer(surroundings))
  try {
    const context = await runtime.context()
    const { metrics, readiness, sessions, endpoints } = await runtime.runPromise(
      Effect.gen(function* () {
        const dispatch = {
          guards: yield* Guards,
          context: yield* Effect.context<RouteServices>(),
          checkAnswers: surroundings.checkAnswers ?? false,
        }
        const bus = yield* Bus
        const readiness = yield* Readiness
        if (surroundings.peersPossible && config.redisUrl !== undefined)
          readiness.add(
            "redis",
            Effect.sync(() => (bus.hearsExpress() ? "ok" : "away")),
          )
        return {
          metrics: yield* Metrics,
          readiness,
          sessions: yield* LiveSessions,
          endpoints: yield* Effect.forEach(routes, (route) => toEndpoint(route, dispatch)),
        }
      }),
    )
    if (surroundings.preparesData) await runtime.runPromise(prepareData(config))
    const fork = Effect.runForkWith(context)
    const notice = siteNotice(config)
    const ownAddresses = [config.baseUrl, config.authUrl, config.webUrl]
    const server: Server = await startServer({
      host: config.host,
      port: options.port,
      exclusive: options.exclusive,
      endpoints: notice === undefined ? endpoints : endpoints.map((one) => endpointWithNotice(one, notice)),
      allowedOrigins: config.allowedOrigins,
      trustProxy: config.trustProxy === "on",
      deadlineMs: config.requestDeadlineSeconds * 1000,
      observe: metrics.observer,
      mount: (app) =>
        mountLive(app, {
          sessions,
          // The console is a page of ours, and a browser names the origin of a socket also where it is the same.
          allowedOrigins: [
            ...config.allowedOrigins,
            ...ownAddresses.map((address) => new URL(address).origin),
          ],
          maxSockets: config.liveMaxSockets,
          maxSocketsPerAddress: config.rateLimit === "on" ? config.liveMaxSocketsPerAddress : undefined,
          trustProxy: config.trustProxy === "on",
          defect: (error) => void fork(Effect.logError("live socket failed", error)),
        }),
      refuse: (kind, requestId, details, shape) => {
        if (kind === "defect") fork(Effect.logError("request failed", { request_id: requestId }, details))
        const response = refusalResponse(kind, requestId, details, shape)
        return notice === undefined ? response : withNotice(response, notice)
      },
    })
    await runtime.runPromise(watch(server))
    await runtime.runPromise(
      OwnAddress.use((own) => Effect.sync(() => own.listening(config.host, server.port))),
    )
    return {
      port: server.port,
      runtime,
      stop: async () => {
        readiness.drain()
        await server.stop(config.drainSeconds * 1000)
        await runtime.dispose()
      },
    }
  } catch (error) {
    await runtime.dispose()
    throw error
  }
}
