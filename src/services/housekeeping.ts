import { Effect, Layer, Schedule } from "effect"
import { Sql } from "../store/sql.ts"

const intervalMinutes = 5
const batchSize = 5000
/** Logins one user may have open; older ones are ended. */
const maxSessions = 200

/** Takes away what nobody can ask for any more. Every process may do this; a round that meets another does less. */
export const tidy = Effect.gen(function* () {
  const sql = yield* Sql
  yield* Effect.all(
    [
      sql.rows(
        (q) => q`delete from entity where kind = 'session' and id in (
                   select id from entity where kind = 'session' and status in ('Revoked', 'Expired')
                      and updated_at < now() - interval '2 days' limit ${batchSize})`,
      ),
      sql.rows(
        (q) => q`update entity e set status = 'Revoked', state = jsonb_set(e.state, '{value}', '"Revoked"'),
                        version = e.version + 1, turn = gen_random_uuid(), due_at = null, updated_at = now()
                   from (select id, row_number() over (partition by owner_id order by updated_at desc) as n
                           from entity where kind = 'session' and status not in ('Revoked', 'Expired')) s
                  where e.kind = 'session' and e.id = s.id and s.n > ${maxSessions}`,
      ),
      sql.rows((q) => q`delete from magic_link where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from authorization_code where expires_at < now() - interval '1 day'`),
      sql.rows(
        (q) => q`delete from oauth_grant where least(expires_at, revoked_at) < now() - interval '2 days'`,
      ),
      sql.rows((q) => q`delete from partner_visit where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from sms_code where expires_at < now() - interval '1 day'`),
      sql.rows((q) => q`delete from rate_window where resets_at < now()`),
      sql.rows(
        (q) => q`delete from idempotency_key where (caller, key) in (
                   select caller, key from idempotency_key where created_at < now() - interval '1 day' limit ${batchSize})`,
      ),
      sql.rows(
        (q) => q`delete from sandbox_webhook where id in (
                   select id from sandbox_webhook where delivered_at < now() - interval '7 days' limit ${batchSize})`,
      ),
      sql.rows(
        (q) => q`delete from outbox where id in (
                   select id from outbox where sent_at < now() - interval '7 days' order by id limit ${batchSize})`,
      ),
    ],
    { discard: true },
  )
})

export const housekeeping = Layer.effectDiscard(
  tidy.pipe(
    Effect.catchCause((cause) => Effect.logDebug("housekeeping put off", cause)),
    Effect.repeat(Schedule.spaced(`${intervalMinutes} minutes`)),
    Effect.delay("1 minute"),
    Effect.forkScoped,
  ),
)
