import { createHash } from "node:crypto"
import type { FileHandle } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { type BackupHeader, checksumName, headerName, type Manifest, manifestName } from "./manifest.ts"
import { blockBytes, encodeHeader, paddingOf } from "./tar.ts"

export type Content = AsyncIterable<Buffer> | Iterable<Buffer>

export interface ArchiveWriter {
  folder(name: string): Promise<void>
  /**
   * Adds a file of exactly this size. A longer content is cut, and a shorter one is filled with zeros: the files of a
   * cluster can grow and shrink while they are copied, and the write-ahead log repairs them.
   */
  file(name: string, size: number, content: Content): Promise<void>
}

export interface ArchiveFacts {
  /** The size of the archive. */
  readonly bytes: number
  /** The checksum of the archive, as sha256sum prints it. */
  readonly sha256: string
}

/** The fastest level. Higher ones take several times as long for a tenth of the size. */
const level = 1
const chunkSize = 256 * 1024

/**
 * Writes a compressed archive to a file. `fill` adds the entries and returns the facts for the manifest, which follows
 * them. The last entry is a checksum of everything before it.
 */
export const writeArchive = async (
  target: FileHandle,
  header: BackupHeader,
  fill: (archive: ArchiveWriter) => Promise<Omit<Manifest, "entries">>,
): Promise<ArchiveFacts & { readonly manifest: Manifest }> => {
  const seconds = Math.floor(Date.parse(header.begun_at) / 1000)
  const entries: Array<Manifest["entries"][number]> = []
  const [all, stored] = [createHash("sha256"), createHash("sha256")]
  let bytes = 0
  const gzip = createGzip({ level, chunkSize })
  const stored$ = pipeline(gzip, async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      stored.update(chunk)
      bytes += chunk.length
      // It writes the whole chunk at the current position.
      await target.writeFile(chunk)
    }
  })
  // The failure is reported by the write that notices it, or at the end.
  stored$.catch(() => {})

  const write = async (chunk: Uint8Array): Promise<void> => {
    if (chunk.length === 0) return
    all.update(chunk)
    await new Promise<void>((resolve, reject) => {
      gzip.write(chunk, (error) => (error == null ? resolve() : reject(error)))
    }).catch(async (error: unknown) => {
      // If the disk is full, the compression only reports that it was ended. The pipeline has the reason.
      await stored$
      throw error
    })
  }

  const archive: ArchiveWriter = {
    folder: (name) => write(encodeHeader({ name, kind: "folder", size: 0 }, seconds)),
    file: async (name, size, content) => {
      const hash = createHash("sha256")
      let left = size
      const add = async (chunk: Uint8Array) => {
        hash.update(chunk)
        left -= chunk.length
        await write(chunk)
      }
      await write(encodeHeader({ name, kind: "file", size }, seconds))
      for await (const chunk of content) {
        if (left > 0) await add(chunk.subarray(0, left))
        if (left === 0) break
      }
      while (left > 0) await add(Buffer.alloc(Math.min(left, 65_536)))
      await write(Buffer.alloc(paddingOf(size)))
      entries.push({ name, size, sha256: hash.digest("hex") })
    },
  }
  const text = (name: string, value: string) => {
    const content = Buffer.from(`${value}\n`)
    return archive.file(name, content.length, [content])
  }

  try {
    await text(headerName, JSON.stringify(header, undefined, 1))
    const facts = await fill(archive)
    const manifest: Manifest = { ...facts, entries: [...entries] }
    await text(manifestName, JSON.stringify(manifest, undefined, 1))
    await text(checksumName, all.copy().digest("hex"))
    await write(Buffer.alloc(2 * blockBytes))
    gzip.end()
    await stored$
    return { bytes, sha256: stored.digest("hex"), manifest }
  } catch (error) {
    gzip.destroy()
    await stored$.catch(() => {})
    throw error
  }
}
