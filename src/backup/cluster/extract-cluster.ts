import { mkdirSync, statfsSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Entry } from "../archive/read-archive.ts"
import { copyProgress, inMegabytes, type Note } from "../progress.ts"
import { clusterFolder } from "./backup-cluster.ts"

/** Throws if the disk has less space than the files need. */
const checkSpace = (folder: string, bytes: number): void => {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < bytes)
    throw new Error(
      `${folder} has ${inMegabytes(bavail * bsize)} of free space, but the restore needs about ${inMegabytes(bytes)}.`,
    )
}

const writeEntry = async (path: string, { content }: Entry): Promise<void> => {
  const file = await open(path, "wx", 0o600)
  try {
    for await (const chunk of content) await file.writeFile(chunk)
  } finally {
    await file.close()
  }
}

/** Writes the cluster of an archive to a folder. */
export const extractCluster = async (
  entries: AsyncIterable<Entry>,
  folder: string,
  options: { readonly bytes: number; readonly note: Note; readonly signal: AbortSignal },
): Promise<void> => {
  checkSpace(folder, options.bytes)
  const report = copyProgress(options.note, "database files")
  for await (const entry of entries) {
    options.signal.throwIfAborted()
    const [top, ...rest] = entry.name.split("/")
    if (top !== clusterFolder) throw new Error(`The entry ${entry.name} does not belong to a cluster.`)
    const path = join(folder, ...rest)
    if (entry.kind === "file") await writeEntry(path, entry)
    else if (rest.length > 0) mkdirSync(path, { mode: 0o700 })
    report(entry.size)
  }
}
