import { Effect, Layer, Schedule } from "effect"
import { lookBackSeconds } from "../accounts/caller-cache.ts"
import { AppConfig } from "../config/config.ts"
import { deleteOldest, deleteOver } from "../postgres/prune.ts"
import { type Client, Sql, type SqlPiece } from "../postgres/sql.ts"

const intervalMinutes = 5
const endedKeptSeconds = 2 * 86_400

/** Takes away what nobody can ask for any more. Every process may do this; a round that meets another does less. */
export const tidy = Effect.gen(function* () {
  const sql = yield* Sql
  const keptSeconds = Math.max(endedKeptSeconds, lookBackSeconds(yield* AppConfig))
  const over = (table: string, key: Array<string>, isOver: (q: Client) => SqlPiece) =>
    deleteOver(sql, table, key, isOver)
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
      deleteOldest(
        sql,
        "sandbox_webhook",
        (q) => q`delivered_at < now() - interval '7 days'`,
        (q) => q`delivered_at >= now() - interval '7 days'`,
      ),
      deleteOldest(
        sql,
        "outbox",
        (q) => q`(sent_at < now() - interval '7 days' or at < now() - interval '30 days')`,
        (q) => q`coalesce(sent_at, at) >= now() - interval '7 days'`,
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
