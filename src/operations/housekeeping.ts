import { Effect, Layer, Schedule } from "effect"
import { lookBackSeconds } from "../accounts/caller-cache.ts"
import { expiredMagicLinks } from "../accounts/login/magic-link-store.ts"
import { oldSecurityLogEntries } from "../accounts/security-log/security-log-store.ts"
import { endedSessions, oldSessionUses } from "../accounts/sessions/session-store.ts"
import { expiredSmsCodes } from "../accounts/two-factor/two-factor-store.ts"
import { AppConfig, type Config } from "../config/config.ts"
import { expiredIdempotencyKeys } from "../http/idempotency-store.ts"
import { endedRateWindows } from "../http/limits/rate-window-store.ts"
import { makeGiveMissingKeys } from "../keys/missing-keys.ts"
import { cleanCancelledOrders } from "../orders/cleanup.ts"
import { forgottenOrders } from "../orders/cleanup-store.ts"
import { deliveredSandboxWebhooks } from "../orders/payments/sandbox-webhook-store.ts"
import { expiredVisits } from "../partners/visit-store.ts"
import { deleteExpired } from "../postgres/prune.ts"
import { endedGrants, expiredAuthorizationCodes } from "../sign-in/oauth/authorization-code-store.ts"
import { oldWrongTransferCodes } from "../transfers/code-attempt-store.ts"
import { expiredMail } from "../turns/outbox.ts"

const intervalMinutes = 5
const endedKeptSeconds = 2 * 86_400

const listExpired = (config: Config) => {
  const keptSeconds = Math.max(endedKeptSeconds, lookBackSeconds(config))
  return [
    endedSessions(keptSeconds),
    oldSessionUses(config.refreshTokenSeconds),
    expiredMagicLinks,
    expiredAuthorizationCodes,
    endedGrants(keptSeconds),
    expiredVisits,
    expiredSmsCodes,
    endedRateWindows,
    expiredIdempotencyKeys,
    deliveredSandboxWebhooks,
    oldWrongTransferCodes,
    expiredMail,
    forgottenOrders,
    oldSecurityLogEntries,
  ]
}

/**
 * Deletes rows that are no longer needed. Several processes may run this at the same time, because each row is
 * deleted by only one of them.
 */
export const deleteExpiredRows = Effect.gen(function* () {
  yield* Effect.forEach(
    listExpired(yield* AppConfig),
    (rows) =>
      // If the deletion fails for one table, the other tables are still processed. The next run tries again.
      deleteExpired(rows).pipe(Effect.catchCause((cause) => Effect.logWarning("housekeeping failed", cause))),
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
