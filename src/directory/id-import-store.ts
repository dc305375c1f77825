import { Context, Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import type { DisplayRecord } from "../../schema/directory/records/record.ts"
import { Unavailable } from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"

/** An id that an operator imports, with the records in the form in which they are stored. */
export interface IdToImport {
  /** The number of the line, which the outcome names. */
  readonly n: number
  readonly canonical: string
  readonly user_id?: string | undefined
  readonly email?: string | undefined
  readonly pubkey?: string | undefined
  readonly source: string
  readonly display: DisplayRecord | undefined
  readonly records: ReadonlyArray<{
    readonly hash: string
    readonly tag: number
    readonly data: string
    readonly single_key: string | undefined
  }>
}

export interface ImportOutcome {
  readonly n: number
  readonly outcome: "imported" | "present" | "taken" | "no_user" | "unproven" | "no_pubkey"
}

const maxAttempts = 5
const contended = new Unavailable({
  error: "Other processes take ids of the file all the time. Run the import again.",
  retryAfterSeconds: 1,
})

/** Imports ids in batches. A batch that was committed before is recognised, so it can be repeated. */
export class IdImports extends Context.Service<
  IdImports,
  {
    /**
     * Imports a batch, which must not contain an id twice, and returns the outcome of each line. Every process drops the
     * ids from its caches before the commit. Subscribers of the ids get the events within a second: no wake-up is sent,
     * because a notification for each id would take longer than its registration.
     */
    importBatch(ids: ReadonlyArray<IdToImport>): Effect.Effect<ReadonlyArray<ImportOutcome>, Unavailable>
    /** Returns the outcomes that the import of the batch would have now. */
    judgeBatch(ids: ReadonlyArray<IdToImport>): Effect.Effect<ReadonlyArray<ImportOutcome>, Unavailable>
  }
>()("directory/IdImports") {
  static readonly layer = Layer.effect(
    IdImports,
    Effect.gen(function* () {
      const sql = yield* Sql
      const publisher = yield* Publisher
      const send = (ids: ReadonlyArray<IdToImport>, store: boolean) =>
        sql
          .attempt<{ outcomes: ReadonlyArray<ImportOutcome> }>(
            (q) => q`select import_emoji_ids(${JSON.stringify(ids)}::text::jsonb, ${store}) as outcomes`,
          )
          .pipe(Effect.map(([row]) => row!.outcomes))

      /** After a conflict with another statement, the batch is judged again, and then has the outcome of the conflict. */
      const commit = (
        ids: ReadonlyArray<IdToImport>,
        attempts: number,
      ): Effect.Effect<ReadonlyArray<ImportOutcome>, Unavailable> =>
        send(ids, true).pipe(
          publisher.changing({ ids: ids.map(({ canonical }) => canonical) }),
          Effect.catchTag("SqlRefused", (refused) => {
            if (!["EI002", "EI003", "23505"].includes(refused.sqlstate)) return Effect.die(refused)
            return attempts > 1 ? commit(ids, attempts - 1) : Effect.fail(contended)
          }),
        )

      return IdImports.of({
        importBatch: (ids) => commit(ids, maxAttempts),
        judgeBatch: (ids) => send(ids, false).pipe(Effect.catchTag("SqlRefused", Effect.die)),
      })
    }),
  )
}
