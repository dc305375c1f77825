import { once } from "node:events"
import type { DatabaseAddress } from "../../postgres/client.ts"
import type { ArchiveContent } from "../archive/read-archive.ts"
import { copyProgress, type Note } from "../progress.ts"
import { dumpFolder } from "./add-dump.ts"
import { toLibpq } from "./libpq.ts"
import { startClient } from "./programs.ts"

export interface DumpRestore {
  readonly archive: ArchiveContent
  readonly address: DatabaseAddress
  readonly pgBin: string | undefined
  /** Statements at the end of the transaction. The last one returns a line of text. */
  readonly completion: string
  readonly note: Note
  readonly signal: AbortSignal
}

/** Copies a stream to the input of a program, and waits while the program is busy. */
const write = async (input: NodeJS.WritableStream, chunk: Buffer | string): Promise<void> => {
  if (!input.write(chunk)) await Promise.race([once(input, "drain"), once(input, "close")])
}

/**
 * Restores a dump in one transaction: pg_restore converts it to a script, and psql runs the script and the completion.
 * psql commits when its input ends. Until then it is killed if anything fails, so the database gets everything or
 * nothing. Returns the line that the completion has printed.
 */
export const restoreDump = async (options: DumpRestore) => {
  const { address, archive, completion, note, pgBin, signal } = options
  const connection = toLibpq(address)
  const convert = startClient("pg_restore", ["--file=-", "--no-owner", "--no-privileges"], { pgBin })
  const run = startClient(
    "psql",
    [
      ...["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--no-password"],
      ...["--set=ON_ERROR_STOP=1", "--single-transaction", `--dbname=${connection.uri}`, "--file=-"],
    ],
    { ...connection, pgBin },
  )
  let printed = ""
  const reading = (async () => {
    for await (const chunk of run.output) printed = (printed + chunk).slice(-10_000)
  })()
  reading.catch(() => {})
  // A program that fails ends the other one, and its message is the one that is reported.
  const failed = Promise.race([
    convert.succeeded.then(() => new Promise<never>(() => {})),
    run.succeeded.then(() => new Promise<never>(() => {})),
  ])
  failed.catch(() => {})
  const feed = async () => {
    const report = copyProgress(note, "dump")
    for await (const entry of archive.entries) {
      signal.throwIfAborted()
      if (!entry.name.startsWith(`${dumpFolder}/`))
        throw new Error(`The entry ${entry.name} does not belong to a dump.`)
      for await (const chunk of entry.content) await write(convert.child.stdin, chunk)
      report(entry.size)
    }
    convert.child.stdin.end()
  }
  const forward = async () => {
    for await (const chunk of convert.output) await write(run.child.stdin, chunk)
    await convert.succeeded
  }
  try {
    await Promise.race([Promise.all([feed(), forward()]), failed])
    const { manifest } = await archive.finish()
    signal.throwIfAborted()
    run.child.stdin.end(completion)
    await run.succeeded
    await reading
    return { manifest, printed: printed.trim().split("\n").at(-1) ?? "" }
  } finally {
    run.child.kill()
    convert.child.kill()
  }
}
