import { Effect } from "effect"
import { Mailboxes } from "../actors/mailboxes.ts"
import { Bus } from "./cluster/bus.ts"
import type { Admission } from "./http/limits/admission.ts"
import { registerLoadMetrics } from "./http/limits/load-metrics.ts"
import type { Server } from "./http/server.ts"
import { Metrics } from "./telemetry/metrics.ts"
import { type Backlog, Outbox } from "./turns/outbox.ts"

/** Registers the metrics that services do not register themselves. */
export const registerServiceMetrics = (server: Server, admission: Admission) =>
  Effect.gen(function* () {
    const metrics = yield* Metrics
    const bus = yield* Bus
    const outbox = yield* Outbox
    const mailboxes = yield* Mailboxes

    metrics.gauge("http_requests_in_flight", "Requests without a response yet", server.inFlight)
    registerLoadMetrics(metrics, admission)

    metrics.gauge("actors_active", "Entities in memory", () => mailboxes.total().cells)
    metrics.gauge("actors_mailbox_depth", "Turns running or waiting", () => mailboxes.total().waiting)

    const ofDatabase = { across: "database" } as const
    // Unknown if the query fails, so that an outage of the database does not look like an empty outbox.
    let backlog: Backlog | undefined
    metrics.before(
      Effect.suspend(() => {
        backlog = undefined
        return Effect.ignore(
          Effect.tap(outbox.backlog, (found) =>
            Effect.sync(() => {
              backlog = found
            }),
          ),
        )
      }),
    )
    metrics.gauge(
      "postgres_reachable",
      "1 if the database answered a query of this scrape",
      () => (backlog === undefined ? 0 : 1),
      ofDatabase,
    )
    metrics.gauge(
      "outbox_lag_seconds",
      "Age of the oldest mail or SMS that is still to be sent",
      () => backlog?.oldestSeconds,
      ofDatabase,
    )
    metrics.gauge(
      "outbox_waiting",
      "Mail and SMS that are still to be sent",
      () => backlog?.waiting,
      ofDatabase,
    )

    metrics.gauge("bus_peers", "Other processes known", () => bus.stats().peers, { across: "max" })
    metrics.gauge(
      "bus_marks_held",
      "Marks of running writes, whose keys the workers do not cache",
      () => bus.stats().marks,
      { across: "max" },
    )
    metrics.counted(
      "bus_gaps_total",
      "Times that a worker may have missed messages of other processes",
      () => bus.stats().gaps,
    )
    metrics.counted(
      "bus_waits_expired_total",
      "Writes that waited until the lease of a process without an answer had expired",
      () => bus.stats().expired,
    )
    metrics.counted(
      "bus_leases_lost_total",
      "Times that a worker lost its lease and cleared its caches",
      () => bus.stats().leasesLost,
    )
  })
