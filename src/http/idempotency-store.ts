import { Effect } from "effect"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

/** One attempt to run a request under an Idempotency-Key. */
interface KeyRun {
  readonly caller: string
  readonly key: string
  /** The id of this attempt. Each attempt has a new id. */
  readonly run: string
}

export interface LeaseOutcome {
  readonly outcome: "run" | "repeat" | "finish" | "running" | "other"
  readonly status: number
  readonly answer: string
  /** The outcome of the effect, if an earlier attempt committed it: encrypted, or null if the write kept nothing. */
  readonly kept: string | null
  /** The rows that the write returned. Null if the effect was a turn. */
  readonly kept_rows: unknown
  /** The attempt that committed the effect. */
  readonly kept_run: string
}

export const makeIdempotencyStore = Sql.useSync((sql) => ({
  /**
   * Leases the key to this attempt (outcome `run`). The other outcomes say why the request must not run: it has a
   * stored response (`repeat`), an earlier attempt committed the effect without a response (`finish`, also leased),
   * another attempt is running (`running`), or the key belongs to another request (`other`).
   */
  lease: (
    { caller, key, run }: KeyRun,
    {
      keySeconds,
      leaseSeconds,
      requestHash,
    }: { readonly requestHash: string; readonly leaseSeconds: number; readonly keySeconds: number },
  ) =>
    sql
      .rows<LeaseOutcome>(
        (q) => q`select * from begin_operation(${caller}, ${key}, ${requestHash}, ${run}::uuid,
                                          ${leaseSeconds}, ${keySeconds})`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  /**
   * Stores the response of this attempt. The first stored response stays. The response of an attempt that does not know
   * the outcome is stored only if nothing was committed, so that it never replaces a committed outcome. Returns whether
   * the response was stored.
   */
  keepAnswer: (
    { caller, key, run }: KeyRun,
    { answer, knowsOutcome, status }: { status: number; answer: string; knowsOutcome: boolean },
  ) =>
    sql
      .rows(
        (q) => q`update idempotency_key set status = ${status}, answer = ${answer}, leased_until = null,
                        outcome = null, outcome_rows = null
                  where caller = ${caller} and key = ${key} and run = ${run} and status is null
                    and (committed_at is null or ${knowsOutcome}) returning 1`,
      )
      .pipe(Effect.map((rows) => rows.length > 0)),
  /**
   * Ends the lease, so that the next request with this key runs. If the effect was committed, the key stays, and the
   * next request makes the response from the outcome. A statement of this attempt that is still running holds the row:
   * then this waits for it. Returns whether the effect was committed.
   */
  free: ({ caller, key, run }: KeyRun) =>
    sql
      .rows(
        (q) => q`with freed as (
                   delete from idempotency_key
                    where caller = ${caller} and key = ${key} and run = ${run} and committed_at is null returning 1)
                 update idempotency_key set leased_until = now()
                  where caller = ${caller} and key = ${key} and run = ${run} and committed_at is not null
                 returning 1`,
      )
      .pipe(Effect.map((rows) => rows.length > 0)),
  /** What is stored for a key: a response or an outcome. The key is not leased. */
  find: (caller: string, key: string, requestHash: string) =>
    sql
      .rows<LeaseOutcome>(
        (q) => q`select case when status is null then 'finish' else 'repeat' end as outcome, status, answer,
                        outcome as kept, outcome_rows as kept_rows, run as kept_run
                   from idempotency_key
                  where caller = ${caller} and key = ${key} and request_hash = ${requestHash}
                    and (status is not null or committed_at is not null)`,
      )
      .pipe(Effect.map((rows) => rows[0])),
}))

export const expiredIdempotencyKeys = (keptHours: number): ExpiredRows => ({
  table: "idempotency_key",
  time: (q) => q`created_at`,
  isExpired: (q) => q`created_at < now() - make_interval(hours => ${keptHours})`,
})
