import { randomBytes } from "node:crypto"
import type { Client } from "../../postgres/client.ts"

export interface BackupStart {
  /** The position in the write-ahead log from which a restore reads it. */
  readonly start: bigint
  readonly timeline: number
  readonly segmentBytes: number
}

interface BackupStop {
  readonly stop: bigint
  readonly labelFile: string
  readonly tablespaceMap: string
  /** Writes that were acknowledged before this time are before `stop`. */
  readonly hasWritesUntil: string
}

/** Converts a position of the write-ahead log, such as 1/2A3B, to the number of bytes before it. */
const toPosition = (lsn: string): bigint => {
  const [high = "", low = ""] = lsn.split("/")
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export const toLsn = (position: bigint): string =>
  `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase()

/**
 * The statements of an online backup. They must be sent on one connection: Postgres ends the backup, and drops the slot,
 * when the session ends.
 */
export const backupSession = (sql: Client) => ({
  /**
   * Begins the backup with a checkpoint. The temporary slot is created first: it keeps every segment of the write-ahead
   * log from then on. While the backup runs, Postgres logs whole pages, so a page that is copied during a write is
   * repaired by the restore.
   */
  start: async (label: string): Promise<BackupStart> => {
    const slot = `backup_${randomBytes(8).toString("hex")}`
    await sql`select pg_create_physical_replication_slot(${slot}, true, true)`
    const [begun] = await sql<
      [{ start: string }]
    >`select pg_backup_start(${label}, fast => true)::text as start`
    const [facts] = await sql<[{ timeline: number; segment: number }]>`
      select timeline_id as timeline, pg_size_bytes(current_setting('wal_segment_size'))::int as segment
        from pg_control_checkpoint()`
    return { start: toPosition(begun.start), timeline: facts.timeline, segmentBytes: facts.segment }
  },
  /** The end of the write-ahead log that is on the disk. */
  flushed: async (): Promise<bigint> => {
    const [row] = await sql<[{ lsn: string }]>`select pg_current_wal_flush_lsn()::text as lsn`
    return toPosition(row.lsn)
  },
  /** Ends the backup. Postgres then begins a new segment, so the last one of the backup is complete. */
  stop: async (): Promise<BackupStop> => {
    const [clock] = await sql<[{ at: string }]>`select clock_timestamp() as at`
    const [row] = await sql<[{ lsn: string; labelfile: string; spcmapfile: string | null }]>`
      select lsn::text, labelfile, spcmapfile from pg_backup_stop(wait_for_archive => false)`
    return {
      stop: toPosition(row.lsn),
      labelFile: row.labelfile,
      tablespaceMap: row.spcmapfile ?? "",
      hasWritesUntil: clock.at,
    }
  },
})
