import { Effect } from "effect"
import { AdminFigures } from "../../schema/operations/admin-figures.ts"
import { route } from "../http/route.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { Outbox } from "../turns/outbox.ts"
import { readFigures } from "./figures-store.ts"

const socketsLine = /^live_sockets (\d+)$/m

/** The open live sockets of all workers of this server. Undefined if the workers do not answer in time. */
const countSockets = Effect.gen(function* () {
  const text = yield* (yield* Metrics).text
  const found = socketsLine.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(undefined)))

const read = route({
  id: "adminFigures",
  group: "admin",
  summary: "Get the key figures: ids, sales, open holds, waiting mail, live sockets",
  description:
    "The figures of the operator's console. Sales are per day in UTC, for the last 30 days. `live_sockets` counts the sockets of the server that answers; for several servers, sum the metric `live_sockets`.",
  method: "get",
  path: "/admin/figures",
  auth: "JWT",
  scope: "domainEvent:read",
  success: AdminFigures,
  errors: [],
  handler: () =>
    Effect.gen(function* () {
      const [stored, { oldestSeconds, waiting }, sockets] = yield* Effect.all(
        [readFigures, Outbox.use((box) => box.backlog), countSockets],
        { concurrency: "unbounded" },
      )
      return {
        ...stored,
        waiting_mail: waiting,
        oldest_mail_seconds: Math.floor(oldestSeconds),
        ...(sockets === undefined ? {} : { live_sockets: sockets }),
      }
    }),
})

export const adminFigures = [read] as const
