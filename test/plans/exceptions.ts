/** A statement that may read more of a table than others. */
export interface PlanException {
  /** The beginning of the place of the statement in the source, or the name of the function that contains it. */
  readonly at: string
  readonly tables: ReadonlyArray<string>
  readonly reason: string
}

/** Partial indexes that stay small although their tables grow. A statement may read all of such an index. */
export const smallIndexes: Readonly<Record<string, string>> = {
  app_user_admins: "the administrators",
  partner_visit_unwritten: "visits whose order is paid, until its addresses are written",
}

export const planExceptions: ReadonlyArray<PlanException> = [
  {
    at: "src/operations/figures-store.ts",
    tables: ["journal", "ledger_line"],
    reason:
      "GET /admin/figures sums the bookings of the last 30 days, which it finds by an index. All bookings of this test are that young.",
  },
  {
    at: "src/market/market-store.ts",
    tables: ["claim", "user_interest"],
    reason:
      "PUT /price_parameters looks which wanted ids are on sale now. Administrators change prices rarely.",
  },
]

/** Statements that the drive does not send, by the beginning of their place in the source. */
export const notDriven: Readonly<Record<string, string>> = {
  "src/backup/": "a backup and a restore read everything, and no request waits for them",
  "src/cluster/cli-notifications.ts": "pg_notify of the command line, which reads no table",
  "src/demo/": "the demo data, which is inserted once and is small",
  "src/postgres/checks/diagnose.ts":
    "the command doctor reads settings of the server and the applied migrations",
  "src/keys/reseal-store.ts": "a command of the operator, which reads every key once, in parts",
  "src/accounts/two-factor/reseal-store.ts":
    "a command of the operator, which reads every second factor once, in parts",
  "src/personal-data/": "commands of the operator, which read what belongs to one user",
  "src/postgres/failover/": "the identity of the server, a table with one row",
  "src/postgres/schema/function-files.ts": "runs at the start, a table with one row per file",
  "src/postgres/guarded-write.ts": "one key by its primary key, after a write whose outcome is unknown",
  "src/postgres/schema/migrate.ts": "runs at the start, a table with one row per migration",
  "src/postgres/checks/preflight.ts": "settings of the server",
  "src/proofs/signing-key-store.ts": "a table with one row per rotation of the keys",
  "src/postgres/sql.ts": "the test write, which reads no table",
}

/** Functions that the drive does not call. */
export const notCalled: Readonly<Record<string, string>> = {
  clear_kept_ids: "a command of the operator, which changes given ids by their primary keys",
  export_person: "a command of the operator, which reads what belongs to one user",
  follow_timeline: "runs when another server has become the primary",
  refuse_change: "raises an error",
  renew_live_epoch: "runs when another server has become the primary or a backup was restored",
}
