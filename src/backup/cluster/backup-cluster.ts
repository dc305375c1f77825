import type { Client } from "../../postgres/client.ts"
import type { Manifest } from "../archive/manifest.ts"
import type { ArchiveWriter } from "../archive/write-archive.ts"
import { copyProgress, type Note } from "../progress.ts"
import { type BackupStart, backupSession, toLsn } from "./backup-session-store.ts"
import { addBaseFile, addControlFile, listBaseFiles } from "./base-files.ts"
import { walCopy } from "./wal-segments.ts"

/** The folder of the archive that contains the cluster. */
export const clusterFolder = "cluster"
/**
 * After so many bytes of the write-ahead log in one round, another round follows before the backup is ended: the less
 * remains after the end, the closer is the end of the command to the last write that the backup contains.
 */
const largeRoundBytes = 64 * 1024 ** 2
const maxRounds = 20

export interface ClusterBackup {
  /** A client with one connection, see `backupSession`. */
  readonly sql: Client
  readonly clusterDir: string
  readonly label: string
  readonly note: Note
  readonly signal: AbortSignal
}

const withReason = (error: unknown): Error => {
  const { code, message } = error as { code?: string; message: string }
  // The client opens a new connection after a broken one. For the new session, no backup is running.
  const isNewSession = /backup is not in progress/.test(message)
  const isBroken = /^(CONNECTION_|ECONNREFUSED|ENOENT|57P0|08)/.test(code ?? "") || isNewSession
  return isBroken
    ? new Error("Postgres was stopped during the backup. Run the command again.")
    : (error as Error)
}

const asked = async <A>(statement: Promise<A>): Promise<A> => {
  try {
    return await statement
  } catch (error) {
    throw withReason(error)
  }
}

const copyFiles = async (archive: ArchiveWriter, { clusterDir, note, signal }: ClusterBackup) => {
  const { files, folders } = await listBaseFiles(clusterDir)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const report = copyProgress(note, "database files", total)
  await archive.folder(clusterFolder)
  for (const name of folders) await archive.folder(`${clusterFolder}/${name}`)
  for (const { name } of files) {
    signal.throwIfAborted()
    report(await addBaseFile(archive, clusterFolder, clusterDir, name))
  }
}

/**
 * Copies a running cluster with the low-level backup API of Postgres. The files are copied while they change. A restore
 * repeats the write-ahead log from the start to the end of the backup, which makes them consistent.
 */
export const addCluster = async (
  archive: ArchiveWriter,
  backup: ClusterBackup,
): Promise<Omit<Manifest, "entries">> => {
  const { clusterDir, label, note, signal } = backup
  const session = backupSession(backup.sql)
  const begun: BackupStart = await asked(session.start(label))
  await copyFiles(archive, backup)
  const wal = walCopy(archive, clusterFolder, clusterDir, begun)
  for (let round = 0; round < maxRounds; round++) {
    signal.throwIfAborted()
    const copied = await wal.copyUntil(await asked(session.flushed()))
    if (copied > 0) note(`write-ahead log: ${Math.round(copied / begun.segmentBytes)} segments`)
    if (copied < largeRoundBytes) break
  }
  // It is copied before the end of the backup: a later one could refer to a checkpoint that the backup does not contain.
  await addControlFile(archive, clusterFolder, clusterDir)
  const ended = await asked(session.stop())
  if (ended.tablespaceMap.trim() !== "") throw new Error("A tablespace was created during the backup.")
  await wal.copyThrough(ended.stop)
  const labelFile = Buffer.from(ended.labelFile)
  await archive.file(`${clusterFolder}/backup_label`, labelFile.length, [labelFile])
  return {
    has_writes_until: ended.hasWritesUntil,
    wal: { start: toLsn(begun.start), stop: toLsn(ended.stop) },
  }
}
