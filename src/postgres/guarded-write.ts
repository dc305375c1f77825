import { Effect } from "effect"
import { CurrentOperation, type Operation, Written } from "../../actors/operation.ts"
import { Unavailable } from "../../schema/errors.ts"
import { isoTime } from "../../schema/iso-time.ts"
import type { Client, SqlPiece } from "./client.ts"
import { type Fence, fenceCheck, fenced } from "./fence.ts"
import type { Statement } from "./sql.ts"
import { SqlRefused } from "./sql-failures.ts"

export interface WriteOptions<Keep> {
  /** What the response needs beside the rows. A JSON value; it is stored encrypted with the Idempotency-Key. */
  readonly keep?: Keep
  /**
   * Which rows of `effect`, the result of the statement, mean that the statement changed something. If there are none,
   * nothing is stored with the Idempotency-Key, and a retry runs the request again. Without it, every row does.
   */
  readonly when?: (q: Client) => SqlPiece
}

/** The result of a write: the rows that the statement returned, and what the caller wants to keep. */
export interface WriteOutcome<Row, Keep> {
  readonly rows: ReadonlyArray<Row>
  readonly keep: Keep
}

export type Write<E> = <Row, Keep = undefined>(
  statement: Statement,
  options?: WriteOptions<Keep>,
) => Effect.Effect<Written<WriteOutcome<Row, Keep>>, E>

/** Builds a statement with the fence of the current write, if it has one, and runs it. */
type Run = <Row>(
  build: (fence: Fence | undefined) => Statement,
) => Effect.Effect<ReadonlyArray<Row>, Unavailable | SqlRefused>

/**
 * The statement, together with the statement that stores its outcome with the Idempotency-Key. Both are one statement,
 * so both are committed or neither. `effect` must return rows and must not begin with a data-modifying WITH.
 */
const withKey =
  (
    { caller, key, run }: Operation,
    kept: string | null,
    statement: Statement,
    when: ((q: Client) => SqlPiece) | undefined,
    fence: Fence | undefined,
  ): Statement =>
  (q) =>
    q`with guard as materialized (
             select hold_key(${caller}, ${key}, ${run}::uuid) and ${fence === undefined ? q`true` : fenceCheck(q, fence)} as ok),
           effect as (${statement(q)}),
           stored as (
             update idempotency_key i
                set outcome = ${kept}, outcome_rows = r.list, committed_at = clock_timestamp()
               from (select jsonb_agg(to_jsonb(effect)) as list from effect where ${when?.(q) ?? q`true`}) r
              where i.caller = ${caller} and i.key = ${key} and r.list is not null returning 1)
      select effect.* from effect where (select ok from guard)`

/** The names of times. JSON does not tell them from text, and a text that a user wrote can look like a time. */
const timeNames = /_(at|date)$/

/** Converts stored rows to the form in which a statement returns them: times have the format of the API. */
export const readStoredRows = (rows: unknown): ReadonlyArray<unknown> =>
  (rows as ReadonlyArray<Record<string, unknown>>).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const time = timeNames.test(name) && typeof value === "string" ? Date.parse(value) : Number.NaN
        return [name, Number.isNaN(time) ? value : isoTime(time)]
      }),
    ),
  )

const takenOver = new Unavailable({
  error: "Another attempt of this request is running. Retry later.",
  retryAfterSeconds: 1,
})

/**
 * Makes a write that stores its outcome with the Idempotency-Key of the request, if the request has one. `run` sends the
 * statement without a key. With a key the statement is safe to repeat, so `repeat` sends it.
 */
export const makeWrite =
  (run: Run, repeat: Run) =>
  <Row, Keep = undefined>(
    statement: Statement,
    { keep, when }: WriteOptions<Keep> = {},
  ): Effect.Effect<Written<WriteOutcome<Row, Keep>>, Unavailable | SqlRefused> =>
    Effect.flatMapEager(CurrentOperation, (operation) => {
      const written = (rows: ReadonlyArray<Row>) => new Written({ rows, keep: keep as Keep })
      if (operation === undefined) return Effect.map(run<Row>(fenced(statement)), written)
      const { caller, key } = operation
      const stored = repeat<{ rows: unknown }>(
        () => (q) =>
          q`select outcome_rows as rows from idempotency_key where caller = ${caller} and key = ${key}`,
      )
      const kept = keep === undefined ? Effect.succeed(null) : operation.seal(keep)
      return Effect.flatMapEager(kept, (sealed) =>
        repeat<Row>((fence) => withKey(operation, sealed, statement, when, fence)).pipe(
          Effect.map(written),
          Effect.catchIf(
            (failure): failure is SqlRefused => failure instanceof SqlRefused && failure.sqlstate === "EI004",
            // The statement was committed, but its connection broke before the result arrived, and it was sent again.
            ({ detail }) =>
              detail === "committed"
                ? Effect.flatMap(stored, ([row]) =>
                    // Another attempt has finished the request and stored its response instead of the rows.
                    row?.rows == null
                      ? Effect.fail(takenOver)
                      : Effect.succeed(written(readStoredRows(row.rows) as ReadonlyArray<Row>)),
                  )
                : Effect.fail(takenOver),
          ),
        ),
      )
    })
