import { Effect, Layer, Schedule } from "effect"
import { AppConfig } from "../config.ts"
import { Sql } from "../store/sql.ts"
import { lookBackSeconds } from "./callers.ts"

const intervalMinutes = 5
const batchSize = 5000
const endedKeptSeconds = 2 * 86_400

/** Takes away what nobody can ask for any more. Every process may do this; a round that meets another does less. */
export const tidy = Effect.gen(function* () {
  const sql = yield* Sql
  const keptSeconds = Math.max(endedKeptSeconds, lookBackSeconds(yield* AppConfig))
  /** Some at a time, for as long as there are more: a busy day leaves more behind than one statement may take. */
  const inBatches = (...args: Parameters<typeof sql.rows>) =>
    Effect.repeat(sql.rows(...args), { while: (gone) => gone.length === batchSize })
  yield* Effect.forEach(
    [
      inBatches(
        (q) => q`delete from entity where kind = 'session' and id in (
                   select id from entity where kind = 'session' and status in ('Revoked', 'Expired')
                      and updated_at < now() - make_interval(secs => ${keptSeconds}) limit ${batchSize}) returning 1`,
      ),
      sql.rows((q) => q`delete from magic_link where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from authorization_code where expires_at < now() - interval '1 day'`),
      sql.rows(
        (q) =>
          q`delete from oauth_grant where least(expires_at, revoked_at) < now() - make_interval(secs => ${keptSeconds})`,
      ),
      sql.rows((q) => q`delete from partner_visit where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from sms_code where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from rate_window where resets_at < now()`),
      inBatches(
        (q) => q`delete from idempotency_key where (caller, key) in (
                   select caller, key from idempotency_key where created_at < now() - interval '1 day' limit ${batchSize}) returning 1`,
      ),
      // Of these two only the oldest are looked at, by their numbers.
      inBatches(
        (
          q,
        ) => q`delete from sandbox_webhook w using (select id from sandbox_webhook order by id limit ${batchSize}) oldest
                  where w.id = oldest.id and w.delivered_at < now() - interval '7 days' returning 1`,
      ),
      inBatches(
        (q) => q`delete from outbox o using (select id from outbox order by id limit ${batchSize}) oldest
                  where o.id = oldest.id
                    and (o.sent_at < now() - interval '7 days' or o.at < now() - interval '30 days') returning 1`,
      ),
    ],
    // What does not work out is tried again next time, and keeps nothing else from being done.
    Effect.catchCause((cause) => Effect.logWarning("housekeeping put off", cause)),
    { discard: true },
  )
})

export const housekeeping = Layer.effectDiscard(
  tidy.pipe(
    Effect.repeat(Schedule.spaced(`${intervalMinutes} minutes`)),
    Effect.delay("1 minute"),
    Effect.forkScoped,
  ),
)
