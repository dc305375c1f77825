import { Effect } from "effect"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

/** One attempt to run a request under an Idempotency-Key. */
interface KeyRun {
  readonly caller: string
  readonly key: string
  /** Names this attempt. A later one of the same key has another name. */
  readonly run: string
}

export interface LeaseOutcome {
  readonly outcome: "run" | "repeat" | "running" | "other"
  readonly status: number
  readonly answer: string
}

export const makeIdempotencyStore = Sql.useSync((sql) => ({
  /** Leases the key to this run, or says why it must not run. */
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
  /** The next request with the key runs as if this run had never begun. */
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
