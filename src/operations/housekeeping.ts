import { Effect, Layer, Schedule } from "effect"
import { expiredMagicLinks } from "../accounts/login/magic-link-store.ts"
import { oldSecurityLogEntries } from "../accounts/security-log/security-log-store.ts"
import { endedSessions, oldSessionUses } from "../accounts/sessions/session-store.ts"
import { expiredSmsCodes } from "../accounts/two-factor/two-factor-store.ts"
import { AppConfig, type Config } from "../config/read-config.ts"
import { sessionKeepSeconds } from "../config/session-retention.ts"
import { oldViewBatches, oldViews } from "../directory/lookup/view-store.ts"
import { oldIdMailTurns } from "../history/id-notice-store.ts"
import { expiredIdempotencyKeys } from "../http/idempotency-store.ts"
import { endedRateWindows } from "../http/limits/rate-window-store.ts"
import { makeGiveMissingKeys } from "../keys/missing-keys.ts"
import { oldInterestNotices } from "../market/interest-notice-store.ts"
import { cleanCancelledOrders } from "../orders/cleanup.ts"
import { forgottenOrders } from "../orders/cleanup-store.ts"
import { deliveredSandboxWebhooks, unpaidSandboxIntents } from "../orders/payments/sandbox-webhook-store.ts"
import { expiredVisits } from "../partners/visit-store.ts"
import { prune } from "../postgres/prune.ts"
import { endedGrants, expiredAuthorizationCodes } from "../sign-in/oauth/authorization-code-store.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { makeRecordPruned } from "../telemetry/pruning-metrics.ts"
import { oldWrongTransferCodes } from "../transfers/code-attempt-store.ts"
import { expiredMail } from "../turns/outbox.ts"

const intervalMinutes = 5

const listExpired = (config: Config) => [
  endedSessions(sessionKeepSeconds(config)),
  oldSessionUses(config.refreshTokenSeconds),
  expiredMagicLinks(config.expiredKeepHours),
  expiredAuthorizationCodes(config.expiredKeepHours),
  endedGrants(sessionKeepSeconds(config)),
  expiredVisits(config.expiredKeepHours),
  expiredSmsCodes(config.expiredKeepHours),
  endedRateWindows,
  expiredIdempotencyKeys(config.idempotencyKeepHours),
  deliveredSandboxWebhooks(config.sandboxKeepDays),
  unpaidSandboxIntents(config.sandboxKeepDays),
  oldWrongTransferCodes,
  expiredMail(config.mailKeepDays, config.unsentMailKeepDays),
  forgottenOrders(config.purgedOrderKeepDays),
  oldSecurityLogEntries(config.securityLogKeepDays),
  oldViews(config.viewKeepDays),
  oldViewBatches,
  oldInterestNotices,
  oldIdMailTurns,
]

/**
 * Deletes rows that are no longer needed. Several processes may run this at the same time, because each row is
 * deleted by only one of them.
 */
export const deleteExpiredRows = Effect.gen(function* () {
  const recordPruned = makeRecordPruned(yield* Metrics)
  yield* Effect.forEach(
    listExpired(yield* AppConfig),
    (rows) =>
      // If the deletion fails for one table, the other tables are still processed. The next run tries again.
      prune(rows).pipe(
        Effect.map((pruned) => recordPruned(rows.table, pruned)),
        Effect.catchCause((cause) => Effect.logWarning("housekeeping failed", cause)),
      ),
    { discard: true },
  )
})

const cleanOrders = cleanCancelledOrders.pipe(
  Effect.catchCause((cause) => Effect.logWarning("cleaning up cancelled orders failed", cause)),
)

export const housekeeping = Layer.effectDiscard(
  Effect.gen(function* () {
    const giveKeys = (yield* makeGiveMissingKeys).pipe(
      Effect.catchCause((cause) => Effect.logWarning("adding missing keys failed", cause)),
    )
    yield* Effect.all([deleteExpiredRows, cleanOrders, giveKeys], { discard: true }).pipe(
      Effect.repeat(Schedule.spaced(`${intervalMinutes} minutes`)),
      Effect.delay("1 minute"),
      Effect.forkScoped,
    )
  }),
)
