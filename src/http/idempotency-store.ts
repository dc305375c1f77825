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
  readonly outcome: "run" | "repeat" | "running" | "other"
  readonly status: number
  readonly answer: string
}

export const makeIdempotencyStore = Sql.useSync((sql) => ({
  /**
   * Leases the key to this attempt (outcome `run`). The other outcomes say why the request must not run: it has a
   * stored response (`repeat`), another attempt is running (`running`), or the key belongs to another request
   * (`other`).
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
        (q) => q`select * from begin_once(${caller}, ${key}, ${requestHash}, ${run}::uuid,
                                          ${leaseSeconds}, ${keySeconds})`,
      )
      .pipe(Effect.map((rows) => rows[0])),
  keepAnswer: ({ caller, key, run }: KeyRun, status: number, answer: string) =>
    sql
      .rows(
        (q) => q`update idempotency_key set status = ${status}, answer = ${answer}, leased_until = null
                  where caller = ${caller} and key = ${key} and run = ${run}`,
      )
      .pipe(Effect.asVoid),
  /** Removes the key, so that the next request with this key runs. */
  free: ({ caller, key, run }: KeyRun) =>
    sql
      .rows((q) => q`delete from idempotency_key where caller = ${caller} and key = ${key} and run = ${run}`)
      .pipe(Effect.asVoid),
}))

export const expiredIdempotencyKeys: ExpiredRows = {
  table: "idempotency_key",
  key: ["caller", "key"],
  isExpired: (q) => q`created_at < now() - interval '1 day'`,
}
