import { Effect, Layer, Schedule } from "effect"
import { Sql } from "../store/sql.ts"

const intervalMinutes = 5
const batchSize = 5000

/** Takes away what nobody can ask for any more. Every process may run this; a round that meets another does less. */
export const housekeeping = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Sql
    const round = Effect.all(
      [
        sql.rows(
          (q) => q`delete from entity where kind = 'session' and id in (
                     select id from entity where kind = 'session' and status in ('Revoked', 'Expired')
                        and updated_at < now() - interval '2 days' limit ${batchSize})`,
        ),
        sql.rows((q) => q`delete from magic_link where expires_at < now() - interval '1 day'`),
        sql.rows((q) => q`delete from sms_code where expires_at < now() - interval '1 day'`),
        sql.rows((q) => q`delete from rate_window where resets_at < now()`),
        sql.rows(
          (q) => q`delete from outbox where id in (
                     select id from outbox where sent_at < now() - interval '7 days' order by id limit ${batchSize})`,
        ),
      ],
      { discard: true },
    ).pipe(Effect.catchCause((cause) => Effect.logDebug("housekeeping put off", cause)))
    yield* Effect.forkScoped(
      Effect.repeat(round, Schedule.spaced(`${intervalMinutes} minutes`)).pipe(Effect.delay("1 minute")),
    )
  }),
)
