import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { PassThrough } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { ByteReader } from "./byte-reader.ts"
import {
  type BackupHeader,
  checksumName,
  headerName,
  type Manifest,
  manifestName,
  readHeader,
  readManifest,
} from "./manifest.ts"
import { blockBytes, decodeHeader, paddingOf, type TarHeader } from "./tar.ts"
import type { ArchiveFacts } from "./write-archive.ts"

const longestText = 64 * 1024 ** 2
/** Names of entries are relative and stay below the folder into which they are extracted. */
const namePattern = /^(?!.*(^|\/)\.{1,2}(\/|$))[^/\0]+(\/[^/\0]+)*$/

export interface Entry extends TarHeader {
  /** The content, which must be read completely before the next entry. */
  readonly content: AsyncIterable<Buffer>
}

export interface ArchiveContent {
  readonly header: BackupHeader
  /** The entries between the header and the manifest. */
  readonly entries: AsyncIterable<Entry>
  /** Reads the rest of the archive and checks it. Called after the last entry. */
  readonly finish: () => Promise<{ readonly manifest: Manifest; readonly facts: ArchiveFacts }>
}

/** An archive that is not complete or not as it was written. */
export class Damaged extends Error {}

const asDamage = (path: string, error: unknown): Error => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "ENOENT") return new Error(`There is no file ${path}. Give the path of a backup.`)
  // Other errors of the system, such as EACCES, say nothing about the content.
  const isOfFile = code !== undefined && !code.startsWith("Z_") && code !== "ERR_STREAM_PREMATURE_CLOSE"
  if (isOfFile || error instanceof Damaged) return error as Error
  return new Damaged(`${path} is damaged or not a backup: ${message}`)
}

/**
 * Opens an archive and passes its header and its entries to `use`, which reads them in order and calls `finish`. An error
 * of the archive names the file.
 */
export const readArchive = async <A>(
  path: string,
  use: (archive: ArchiveContent) => Promise<A>,
): Promise<A> => {
  const [all, stored] = [createHash("sha256"), createHash("sha256")]
  let bytes = 0
  const plain = new PassThrough()
  const stored$ = pipeline(
    createReadStream(path),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        stored.update(chunk)
        bytes += chunk.length
        yield chunk
      }
    },
    createGunzip({ chunkSize: 256 * 1024 }),
    plain,
  )
  stored$.catch(() => {})
  const reader = new ByteReader(plain)
  const found: Array<Manifest["entries"][number]> = []
  /** The checksum of everything before the current entry. */
  let before = ""

  const damaged = (what: string) => new Damaged(`${path} is damaged or not a backup: ${what}`)
  const orDamaged = async <B>(attempt: () => Promise<B>): Promise<B> => {
    try {
      return await attempt()
    } catch (error) {
      throw asDamage(path, error)
    }
  }
  const take = async (length: number): Promise<Buffer> => {
    const chunk = await reader.take(length)
    all.update(chunk)
    return chunk
  }
  const next = () =>
    orDamaged(async () => {
      before = all.copy().digest("hex")
      const header = decodeHeader(await take(blockBytes))
      if (header === undefined) throw new Error("its manifest is missing")
      if (!namePattern.test(header.name))
        throw new Error(`the name ${JSON.stringify(header.name)} is not valid`)
      return header
    })
  async function* contentOf({ kind, name, size }: TarHeader) {
    const hash = createHash("sha256")
    for (let left = size; left > 0; ) {
      const chunk = await orDamaged(() => reader.some(left))
      all.update(chunk)
      hash.update(chunk)
      left -= chunk.length
      yield chunk
    }
    await orDamaged(() => take(paddingOf(size)))
    if (kind === "file") found.push({ name, size, sha256: hash.digest("hex") })
  }
  const textOf = async (header: TarHeader, expected: string): Promise<string> => {
    if (header.name !== expected || header.size > longestText)
      throw damaged(`the entry ${expected} is missing`)
    const chunks: Array<Buffer> = []
    for await (const chunk of contentOf(header)) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  let manifestHeader: TarHeader | undefined
  async function* entries(): AsyncGenerator<Entry> {
    for (;;) {
      const header = await next()
      if (header.name === manifestName) {
        manifestHeader = header
        return
      }
      yield { ...header, content: contentOf(header) }
    }
  }
  const finish = async () => {
    if (manifestHeader === undefined) throw damaged("its manifest is missing")
    const contents = [...found]
    const manifestText = await textOf(manifestHeader, manifestName)
    const manifest = await orDamaged(async () => readManifest(manifestText))
    const checksumHeader = await next()
    const expected = before
    if ((await textOf(checksumHeader, checksumName)).trim() !== expected)
      throw damaged("the checksum of the archive is wrong")
    for (const [i, entry] of manifest.entries.entries()) {
      const { name, sha256, size } = contents[i] ?? {}
      if (name !== entry.name || size !== entry.size || sha256 !== entry.sha256)
        throw damaged(`the entry ${entry.name} is not the one that was written`)
    }
    if (contents.length !== manifest.entries.length)
      throw damaged("it has entries that the manifest does not name")
    await orDamaged(() => reader.drain())
    await orDamaged(() => stored$)
    return { manifest, facts: { bytes, sha256: stored.digest("hex") } }
  }

  try {
    const first = await next()
    const headerText = await textOf(first, headerName)
    const header = await orDamaged(async () => readHeader(headerText))
    return await use({ header, entries: entries(), finish })
  } finally {
    plain.destroy()
    await stored$.catch(() => {})
  }
}
