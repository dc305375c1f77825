import { open } from "node:fs/promises"
import { join } from "node:path"
import type { ArchiveWriter } from "../archive/write-archive.ts"
import type { BackupStart } from "./backup-session-store.ts"
import { addBaseFile } from "./base-files.ts"

const hex = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, "0")

/** The file name of a segment: the timeline, then the number of the segment in two parts. */
export const segmentName = (timeline: number, segment: bigint, segmentBytes: number): string => {
  const perPart = 0x1_0000_0000n / BigInt(segmentBytes)
  return hex(BigInt(timeline)) + hex(segment / perPart) + hex(segment % perPart)
}

/**
 * Checks that the file is this segment and complete. Postgres creates segments by renaming old ones, so a file can have
 * the right name and size and the content of an old segment. The first page contains its timeline and position.
 */
const checkSegment = async (path: string, start: bigint, { segmentBytes, timeline }: BackupStart) => {
  const file = await open(path, "r")
  try {
    const { size } = await file.stat()
    const page = Buffer.alloc(16)
    await file.read(page, 0, page.length, 0)
    if (size === segmentBytes && page.readUInt32LE(4) === timeline && page.readBigUInt64LE(8) === start)
      return
    throw new Error(`${path} is not a complete segment of the write-ahead log`)
  } finally {
    await file.close()
  }
}

/** Copies the segments of the write-ahead log one after the other, beginning with the one that contains the start. */
export const walCopy = (archive: ArchiveWriter, folder: string, clusterDir: string, start: BackupStart) => {
  const bytes = BigInt(start.segmentBytes)
  let next = start.start / bytes
  /** Copies all segments that end at or before this position. Returns the number of bytes. */
  const copyUntil = async (position: bigint): Promise<number> => {
    let copied = 0
    for (; (next + 1n) * bytes <= position; next++) {
      const name = `pg_wal/${segmentName(start.timeline, next, start.segmentBytes)}`
      await checkSegment(join(clusterDir, name), next * bytes, start)
      copied += await addBaseFile(archive, folder, clusterDir, name)
    }
    return copied
  }
  return {
    copyUntil,
    /** Copies the segments up to the one that contains the last byte before this position. */
    copyThrough: (position: bigint) => copyUntil(((position - 1n) / bytes + 1n) * bytes),
  }
}
