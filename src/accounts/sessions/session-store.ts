import type { ExpiredRows } from "../../postgres/prune.ts"

/** Selects the rows that the cleanup deletes: sessions that ended more than `keptSeconds` ago. */
export const endedSessions = (keptSeconds: number): ExpiredRows => ({
  table: "entity",
  key: ["kind", "id"],
  isExpired: (q) => q`kind = 'session' and status in ('Revoked', 'Expired')
                      and updated_at < now() - make_interval(secs => ${keptSeconds})`,
})
