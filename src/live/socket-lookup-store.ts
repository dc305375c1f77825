import { Context, Effect, Layer, Semaphore } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type LookupResult, liveLimits } from "../../schema/live-frames.ts"
import { Sql } from "../postgres/sql.ts"

/** Reads at once: sockets that ask all the time must not take the pool from everybody else. */
const readsAtOnce = 4

/** No character takes more bytes than these in the database: what is larger is not read at all. */
const mostBytes = 3 * liveLimits.lookupCharacters

const charactersOf = (records: LookupResult["result"]): number =>
  records.reduce((sum, { data }) => sum + data.length, 0)

/**
 * What the live socket asks of the directory. It reads the database and not the cache of lookups: whoever was just told
 * that an id changed must not be shown what it was.
 */
export class LiveLookups extends Context.Service<
  LiveLookups,
  {
    /** One result per id, in order, whatever the spelling. Undefined: together they are too large for one answer. */
    lookup(asked: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<LookupResult> | undefined, Unavailable>
  }
>()("directory/LiveLookups") {
  static readonly layer = Layer.effect(
    LiveLookups,
    Effect.gen(function* () {
      const sql = yield* Sql
      const reads = yield* Semaphore.make(readsAtOnce)

      const lookup = Effect.fnUntraced(function* (asked: ReadonlyArray<string>) {
        const ids = asked.map((text) => ({ text, id: parseEmojiId(text) }))
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
