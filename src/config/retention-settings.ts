import { viewWindowDays } from "../../schema/directory/metric.ts"
import { optionalSetting, setting, whole } from "./variable-readers.ts"

const maxHours = 8760
const maxDays = 3650

const days = (minimum: number) => whole(minimum, maxDays)
const hours = (minimum: number) => whole(minimum, maxHours)

/**
 * How long rows are kept that grow with the traffic. A minimum is what correctness needs. docs/operating.md lists the
 * tables.
 */
export const retentionSettings = {
  eventKeepHours: setting(
    "EVENT_KEEP_HOURS",
    "24",
    "How long a live client can be disconnected and still resume without loss. A channel of an order, a transfer or a user is deleted when it had no event for this time.",
    hours(1),
  ),
  eventKeepPerChannel: setting(
    "EVENT_KEEP_PER_CHANNEL",
    "10000",
    "Maximum number of stored events per channel.",
    whole(1, 10_000_000),
  ),
  idempotencyKeepHours: setting(
    "IDEMPOTENCY_KEEP_HOURS",
    "24",
    "How long an Idempotency-Key and its response are stored. At least 24, which the API promises.",
    hours(24),
  ),
  expiredKeepHours: setting(
    "EXPIRED_KEEP_HOURS",
    "24",
    "How long expired sign-in links, OAuth codes, SMS codes and partner visits are kept.",
    hours(1),
  ),
  sessionKeepHours: optionalSetting(
    "SESSION_KEEP_HOURS",
    "How long ended sessions and OAuth grants are kept. Default: 48, or longer if `ACCESS_TOKEN_SECONDS` is: their access tokens must have expired.",
    hours(1),
  ),
  viewKeepDays: setting(
    "VIEW_KEEP_DAYS",
    String(2 * viewWindowDays),
    `How long the lookups per id and day are kept. At least ${viewWindowDays}, which the statistics show.`,
    days(viewWindowDays),
  ),
  mailKeepDays: setting("MAIL_KEEP_DAYS", "7", "How long delivered mail and SMS are kept.", days(1)),
  unsentMailKeepDays: setting(
    "UNSENT_MAIL_KEEP_DAYS",
    "30",
    "How long mail and SMS that could not be delivered are kept. At least 4, because deliveries are retried for three and a half days.",
    days(4),
  ),
  securityLogKeepDays: setting(
    "SECURITY_LOG_KEEP_DAYS",
    "365",
    "How long entries of the users' security logs are kept. At least 2, because the entries of a day are limited.",
    days(2),
  ),
  trackingKeepDays: setting(
    "TRACKING_KEEP_DAYS",
    "7",
    "How long the `tracking_data` of a cancelled order is kept.",
    days(1),
  ),
  cancelledOrderKeepDays: setting(
    "CANCELLED_ORDER_KEEP_DAYS",
    "90",
    "How long a cancelled order without a payment is kept.",
    days(1),
  ),
  purgedOrderKeepDays: setting(
    "PURGED_ORDER_KEEP_DAYS",
    "730",
    "How long a late payment can still be booked on a deleted order.",
    days(1),
  ),
  sandboxKeepDays: setting(
    "SANDBOX_KEEP_DAYS",
    "7",
    "How long delivered webhooks and cancelled, unpaid intents of the sandbox payment provider are kept.",
    days(1),
  ),
}
