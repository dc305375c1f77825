import { Context, Effect, Layer, Schedule } from "effect"
import { Sql } from "../../postgres/sql.ts"
import { writeAtShutdown } from "../../postgres/write-at-shutdown.ts"

const flushEvery = "1 minute"

/**
 * Records when API keys were last used. The ids of used keys are collected in memory and written about once a minute,
 * so that a request with an API key needs no write.
 */
export class ApiKeyUses extends Context.Service<
  ApiKeyUses,
  {
    note(keyId: string): void
    /** Writes the uses of this process. Those of other processes are written within a minute. */
    readonly flush: Effect.Effect<void>
  }
>()("directory/ApiKeyUses") {
  static readonly layer = Layer.effect(
    ApiKeyUses,
    Effect.gen(function* () {
      const sql = yield* Sql
      let used = new Set<string>()

      const flush = Effect.gen(function* () {
        if (used.size === 0) return
        const ids = [...used]
        used = new Set()
        // Another process may write the same keys. It writes the same minute, so locked rows are skipped.
        yield* sql.rows(
          (q) => q`update api_key k set last_used_at = now()
                     from (select id from api_key where id = any(${ids}) for update skip locked) u
                    where k.id = u.id`,
        )
      }).pipe(Effect.catchCause((cause) => Effect.logWarning("API key uses were not stored", cause)))

      yield* writeAtShutdown(flush)
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(flushEvery)))

      return ApiKeyUses.of({
        note: (keyId) => {
          used.add(keyId)
        },
        flush,
      })
    }),
  )
}
