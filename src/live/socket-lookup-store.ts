import { Context, Effect, Layer, Semaphore } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type LookupResult, liveLimits } from "../../schema/live-frames.ts"
import { Sql } from "../postgres/sql.ts"

/** Limits concurrent reads: sockets with many lookups must not use the whole connection pool. */
const concurrentReads = 4

/**
 * A character of the limit (a UTF-16 unit) has at most three bytes in UTF-8. If the results have more bytes, the
 * statement returns no rows, so that they are not read.
 */
const mostBytes = 3 * liveLimits.lookupCharacters

const charactersOf = (records: LookupResult["result"]): number =>
  records.reduce((sum, { data }) => sum + data.length, 0)

/**
 * Lookups for the live socket. They read the database and not the lookup cache: a client that was just notified of a
 * change must not receive the old records.
 */
export class LiveLookups extends Context.Service<
  LiveLookups,
  {
    /** Returns one result per id, in the same order. Undefined if the results are too large for one frame. */
    lookup(
      requested: ReadonlyArray<string>,
    ): Effect.Effect<ReadonlyArray<LookupResult> | undefined, Unavailable>
  }
>()("directory/LiveLookups") {
  static readonly layer = Layer.effect(
    LiveLookups,
    Effect.gen(function* () {
      const sql = yield* Sql
      const reads = yield* Semaphore.make(concurrentReads)

      const lookup = Effect.fnUntraced(function* (requested: ReadonlyArray<string>) {
        const ids = requested.map((text) => ({ text, id: parseEmojiId(text) }))
        const canonicals = new Set(ids.flatMap(({ id }) => (id._tag === "EmojiId" ? [id.canonical] : [])))
        const rows =
          canonicals.size === 0
            ? []
            : yield* reads.withPermits(1)(
                sql.rows<{ found: LookupResult }>(
                  (q) => q`select live_lookup(x) as found from unnest(${[...canonicals]}::text[]) x
                            where (select coalesce(sum(octet_length(data)), 0) from record
                                    where canonical = any(${[...canonicals]}::text[])) <= ${mostBytes}`,
                ),
              )
        if (rows.length < canonicals.size) return undefined
        const found = new Map(rows.map((row) => [row.found.emoji_id, row.found]))
        const results = ids.map(({ id, text }): LookupResult => {
          if (id._tag === "EmojiId") return { ...found.get(id.canonical)!, emoji_id: text }
          const error = { code: id.code, reason: id.message }
          return {
            emoji_id: text,
            canonical: null,
            status: false,
            result: [],
            error,
            pubkey: null,
            version: 0,
          }
        })
        const characters = results.reduce((sum, { result }) => sum + charactersOf(result), 0)
        return characters > liveLimits.lookupCharacters ? undefined : results
      })

      return LiveLookups.of({ lookup })
    }),
  )
}
