import { Effect } from "effect"
import type { ExpiredRows } from "../../postgres/prune.ts"
import { Sql } from "../../postgres/sql.ts"

export interface Counted {
  readonly key: string
  readonly used: number
  readonly resetsInSeconds: number
}

/** Stores the rate limit windows that all processes share. */
export const makeRateWindowStore = Sql.useSync((sql) => ({
  /** Counts one request in the window of each key. Returns the count of each window and when it ends. */
  take: (keys: ReadonlyArray<string>, seconds: ReadonlyArray<number>) =>
    sql.rows<Counted>(
      (q) => q`select key, used, ceil(extract(epoch from resets_at - now()))::int as "resetsInSeconds"
                 from take_rate(${keys as string[]}, ${seconds as number[]})`,
    ),
  remove: (keys: ReadonlyArray<string>) =>
    sql.rows((q) => q`delete from rate_window where key = any(${keys as string[]})`).pipe(Effect.asVoid),
  /** Takes one request back. A repeated statement may take back two, which allows one more request. */
  giveBack: (keys: ReadonlyArray<string>) =>
    sql
      .rows(
        (q) => q`update rate_window set used = used - 1 where key = any(${keys as string[]}) and used > 0`,
      )
      .pipe(Effect.asVoid),
}))

export const endedRateWindows: ExpiredRows = {
  table: "rate_window",
  time: (q) => q`resets_at`,
  isExpired: (q) => q`resets_at < now()`,
}
