import { createHash, timingSafeEqual } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import { Unauthorized, Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { invalidTokenChallenge } from "../http/response/challenge.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { Readiness } from "./readiness.ts"

const Alive = Schema.Struct({ status: Schema.Literals(["ok"]) }).annotate({ identifier: "Alive" })
const alive = Effect.succeed({ status: "ok" } as const)

const health = route({
  id: "health",
  group: "operations",
  summary: "Check that the process is alive",
  description:
    "Answers 200 as long as the process can handle requests. It does not check the database: use it for restarts, and `GET /ready` for load balancers.",
  method: "get",
  path: "/health",
  work: "unlimited",
  auth: "none",
  success: Alive,
  errors: [],
  handler: () => alive,
})

const ready = route({
  id: "ready",
  group: "operations",
  summary: "Check that the process can serve traffic",
  description:
    "Answers 200 if the database and the other checks are ok, and 503 with the failed checks otherwise. A process that is stopping is not ready. A load balancer should send no requests to it.",
  method: "get",
  path: "/ready",
  work: "unlimited",
  auth: "none",
  success: Schema.Struct({
    status: Schema.Literals(["ready"]),
    checks: Schema.Record(Schema.String, Schema.String),
  }),
  errors: [Unavailable],
  handler: () =>
    Effect.gen(function* () {
      const checks = yield* Readiness.use((readiness) => readiness.check)
      const failed = Object.entries(checks).filter(([, state]) => state !== "ok" && state !== "away")
      if (failed.length === 0) return { status: "ready" as const, checks }
      return yield* new Unavailable({
        error: `Not ready: ${failed.map(([name, state]) => `${name} is ${state}`).join(", ")}.`,
        retryAfterSeconds: 1,
        details: { checks },
      })
    }),
})

export const metricsPath = "/metrics"

const metricsRefused =
  "The metrics require the header Authorization: Bearer METRICS_TOKEN, with the token of the operator."
const digest = (text: string) => createHash("sha256").update(text).digest()

/** Fails if METRICS_TOKEN is set and the request does not have it. The digests have the same length for any text. */
const checkMetricsToken = Effect.fnUntraced(function* (authorization: string) {
  const { metricsToken } = yield* AppConfig
  if (metricsToken === undefined) return
  const isRight = timingSafeEqual(digest(authorization), digest(`Bearer ${Redacted.value(metricsToken)}`))
  if (!isRight)
    return yield* new Unauthorized({
      error: metricsRefused,
      headers: authorization === "" ? {} : { "WWW-Authenticate": invalidTokenChallenge(metricsRefused) },
    })
})

const metrics = route({
  id: "metrics",
  group: "operations",
  summary: "Get the Prometheus metrics of all workers",
  description:
    "The text format of Prometheus. In production it is available only with `METRICS_PORT`, or with the `METRICS_TOKEN` of the operator as the Bearer token; otherwise the answer is 401.",
  method: "get",
  path: metricsPath,
  work: "unlimited",
  auth: "none",
  success: Schema.String,
  produces: "text/plain",
  headers: ["authorization"],
  errors: [Unauthorized],
  handler: ({ headers }) =>
    checkMetricsToken(headers["authorization"] ?? "").pipe(
      Effect.andThen(Effect.flatMap(Metrics, (all) => all.text)),
      Effect.map((text) => Reply.raw(text, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" })),
    ),
})

export const operations = [health, ready, metrics] as const
