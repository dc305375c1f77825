import type { Stats } from "node:fs"
import { type FileHandle, open, readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { ArchiveWriter } from "../archive/write-archive.ts"

/** Folders whose content belongs to the running server. Postgres creates it again. They are stored empty. */
const emptyFolders = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
])
/** Files that belong to the running server, or to an earlier backup. */
const skippedFiles =
  /(^|\/)(postmaster\.(pid|opts)|\.s\.PGSQL\.\d+(\.lock)?|postgresql\.auto\.conf\.tmp|current_logfiles(\.tmp)?|(backup_label|tablespace_map)(\.old)?|backup_manifest(\.tmp)?|pg_internal\.init.*|pgsql_tmp.*)$/
/** It is copied last and separately, see `readControlFile`. */
const controlFile = "global/pg_control"
const tablespaces = "pg_tblspc"
const readBytes = 1024 ** 2

export interface BaseFile {
  readonly name: string
  readonly size: number
}

/** Ignores a file that was removed after it was listed, as files of dropped tables are. */
const unlessGone = async <A>(attempt: Promise<A>): Promise<A | undefined> => {
  try {
    return await attempt
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Lists the folders and files of a cluster that a backup contains. */
export const listBaseFiles = async (clusterDir: string) => {
  const [folders, files]: [Array<string>, Array<BaseFile>] = [[], []]
  const visit = async (folder: string): Promise<void> => {
    const entries = await unlessGone(readdir(join(clusterDir, folder), { withFileTypes: true }))
    if (folder === tablespaces && entries !== undefined && entries.length > 0)
      throw new Error(
        `The cluster has tablespaces outside of its folder (${clusterDir}/${tablespaces}), which this backup would not contain. Move their tables to the default tablespace first.`,
      )
    for (const entry of entries ?? []) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (skippedFiles.test(name) || name === controlFile) continue
      const found: Stats | undefined = await unlessGone(stat(join(clusterDir, name)))
      if (found?.isDirectory()) {
        folders.push(name)
        if (!emptyFolders.has(name)) await visit(name)
      } else if (found?.isFile()) files.push({ name, size: found.size })
    }
  }
  await visit("")
  return { folders, files }
}

async function* readChunks(file: FileHandle): AsyncGenerator<Buffer> {
  for (const buffer = Buffer.allocUnsafe(readBytes); ; ) {
    const { bytesRead } = await file.read(buffer, 0, readBytes)
    if (bytesRead === 0) return
    // The chunk is copied, because the compression may still read it when the buffer is filled again.
    yield Buffer.from(buffer.subarray(0, bytesRead))
  }
}

/** Adds a file of the cluster to the archive, in the size that it has now. Returns this size. */
export const addBaseFile = async (
  archive: ArchiveWriter,
  folder: string,
  clusterDir: string,
  name: string,
): Promise<number> => {
  const file = await unlessGone(open(join(clusterDir, name), "r"))
  if (file === undefined) return 0
  try {
    const { size } = await file.stat()
    await archive.file(`${folder}/${name}`, size, readChunks(file))
    return size
  } finally {
    await file.close()
  }
}

/**
 * Reads pg_control, which the server overwrites at every checkpoint. A read during a write could return parts of both
 * versions, so it is repeated until two reads are equal.
 */
const readControlFile = async (clusterDir: string): Promise<Buffer> => {
  const path = join(clusterDir, controlFile)
  for (let last = await readFile(path); ; ) {
    await sleep(10)
    const content = await readFile(path)
    if (content.equals(last)) return content
    last = content
  }
}

export const addControlFile = async (
  archive: ArchiveWriter,
  folder: string,
  clusterDir: string,
): Promise<void> => {
  const content = await readControlFile(clusterDir)
  await archive.file(`${folder}/${controlFile}`, content.length, [content])
}
