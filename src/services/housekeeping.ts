import { Effect, Layer, Schedule } from "effect"
import { AppConfig } from "../config.ts"
import { type Client, Sql, type SqlPiece } from "../store/sql.ts"
import { lookBackSeconds } from "./callers.ts"

const intervalMinutes = 5
const batchSize = 5000
const endedKeptSeconds = 2 * 86_400

/** Takes away what nobody can ask for any more. Every process may do this; a round that meets another does less. */
export const tidy = Effect.gen(function* () {
  const sql = yield* Sql
  const keptSeconds = Math.max(endedKeptSeconds, lookBackSeconds(yield* AppConfig))
  /** Some at a time, for as long as there are more: a month without us leaves more behind than one statement may take. */
  const inBatches = (...args: Parameters<typeof sql.rows>) =>
    Effect.repeat(sql.rows(...args), { while: (gone) => gone.length === batchSize })
  /** Asked again when it is deleted: what was over a moment ago may have begun anew. */
  const over = (table: string, key: Array<string>, isOver: (q: Client) => SqlPiece) =>
    inBatches(
      (q) => q`delete from ${q(table)} where ${isOver(q)} and (${q(key)}) in (
                 select ${q(key)} from ${q(table)} where ${isOver(q)} limit ${batchSize}) returning 1`,
    )
  const expired = (q: Client) => q`expires_at < now() - interval '1 day'`
  yield* Effect.forEach(
    [
      over(
        "entity",
        ["kind", "id"],
        (q) => q`kind = 'session' and status in ('Revoked', 'Expired')
                 and updated_at < now() - make_interval(secs => ${keptSeconds})`,
      ),
      over("magic_link", ["token_hash"], expired),
      over("authorization_code", ["jti"], expired),
      over(
        "oauth_grant",
        ["id"],
        (q) => q`least(expires_at, revoked_at) < now() - make_interval(secs => ${keptSeconds})`,
      ),
      over("partner_visit", ["token_hash"], expired),
      over("sms_code", ["user_id", "for_setup"], expired),
      over("rate_window", ["key"], (q) => q`resets_at < now()`),
      over("idempotency_key", ["caller", "key"], (q) => q`created_at < now() - interval '1 day'`),
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
