import type { DatabaseAddress } from "../../postgres/client.ts"
import type { Manifest } from "../archive/manifest.ts"
import type { ArchiveWriter } from "../archive/write-archive.ts"
import { copyProgress, type Note } from "../progress.ts"
import { toLibpq } from "./libpq.ts"
import { checkProgram, startClient } from "./programs.ts"

/** The folder of the archive that contains the dump, in parts: an archive stores the size of a file before its content. */
export const dumpFolder = "dump"
const partBytes = 16 * 1024 ** 2

/** Returns the parts of a stream. All but the last one have `partBytes` bytes or a little more. */
async function* inParts(output: AsyncIterable<Buffer>): AsyncGenerator<ReadonlyArray<Buffer>> {
  let part: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of output) {
    part.push(chunk)
    bytes += chunk.length
    if (bytes < partBytes) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

/**
 * Adds the output of pg_dump in its custom format. `hasWritesUntil` is a time of the database before the start of
 * pg_dump, whose snapshot is made later.
 */
export const addDump = async (
  archive: ArchiveWriter,
  options: {
    readonly address: DatabaseAddress
    readonly pgBin: string | undefined
    readonly hasWritesUntil: string
    readonly note: Note
    readonly signal: AbortSignal
  },
): Promise<Omit<Manifest, "entries">> => {
  const { address, note, pgBin, signal } = options
  const connection = toLibpq(address)
  const args = ["--format=custom", "--compress=0", "--no-password", `--dbname=${connection.uri}`]
  const { child, output, succeeded } = startClient("pg_dump", args, { ...connection, pgBin })
  const report = copyProgress(note, "pg_dump")
  let number = 0
  try {
    for await (const part of inParts(output)) {
      signal.throwIfAborted()
      const size = part.reduce((sum, { length }) => sum + length, 0)
      await archive.file(`${dumpFolder}/${String(++number).padStart(6, "0")}`, size, part)
      report(size)
    }
    await succeeded
  } finally {
    child.kill()
  }
  return { has_writes_until: options.hasWritesUntil }
}

/** pg_dump refuses a server that is newer than itself. This says it before anything starts, and how to install another. */
export const checkDumpProgram = (pgBin: string | undefined, serverMajor: number): Promise<number> =>
  checkProgram("pg_dump", pgBin, serverMajor, "the server")
