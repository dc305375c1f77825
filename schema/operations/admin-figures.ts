import { Schema } from "effect"
import { Cents, Int } from "../wire-format.ts"

const Sales = {
  /** Orders that were paid. An order with the price zero is not counted. */
  orders: Int,
  sales_in_cents: Cents,
  /** What was paid back of sales, also of earlier ones. */
  refunds_in_cents: Cents,
}

/** The sales of one day, in UTC. */
const DaySales = Schema.Struct({ day: Schema.String.annotate({ format: "date" }), ...Sales }).annotate({
  identifier: "DaySales",
})

/** The key figures for administrators. */
export const AdminFigures = Schema.Struct({
  registered_ids: Int,
  /** Whether `registered_ids` is an estimate, which it is if there are many. */
  registered_ids_is_estimate: Schema.Boolean,
  /** Orders that wait for a payment and hold their ids until then. */
  open_holds: Int,
  /** Mail and SMS that are still to be sent. */
  waiting_mail: Int,
  /** The age of the oldest of them. */
  oldest_mail_seconds: Int,
  /** Open live sockets of this server and its workers. Missing if they do not answer. */
  live_sockets: Schema.optionalKey(Int),
  /** The last 30 days, the oldest first. The last one is today. */
  days: Schema.Array(DaySales),
}).annotate({ identifier: "AdminFigures" })
export type AdminFigures = typeof AdminFigures.Type
