import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { inheritedEnvironment } from "../../config/read-config.ts"
import type { LibpqConnection } from "./libpq.ts"

export type ClientProgram = "pg_dump" | "pg_restore" | "psql"

export interface Run {
  readonly child: ChildProcess & { readonly stdin: NonNullable<ChildProcess["stdin"]> }
  readonly output: AsyncIterable<Buffer>
  /** Resolves when the program has succeeded. Rejects with its error messages. */
  readonly succeeded: Promise<void>
}

const longestMessage = 4000

/** The program in the folder PG_BIN, or on the PATH. */
const pathOf = (program: ClientProgram, pgBin: string | undefined): string =>
  pgBin === undefined ? program : join(pgBin, program)

/** What is missing, and the command that installs it on Debian and Ubuntu. */
const install = (major: number): string =>
  `install it with "apt-get install postgresql-client-${major}" (for versions that Debian does not have, from apt.postgresql.org), or set PG_BIN to the folder of another installation`

/** Starts a program. The environment has the settings of libpq, but not the secrets of the service. */
export const startClient = (
  program: ClientProgram,
  args: ReadonlyArray<string>,
  { environment = {}, pgBin }: Partial<LibpqConnection> & { readonly pgBin: string | undefined },
): Run => {
  const child = spawn(pathOf(program, pgBin), args, {
    env: { ...inheritedEnvironment(), LC_ALL: "C", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  })
  let messages = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    messages = (messages + text).slice(-longestMessage)
  })
  // A program that has ended breaks the pipe. `succeeded` has the reason.
  child.stdin.on("error", () => {})
  const succeeded = (async () => {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
    if (code === 0) return
    const reason = messages.trim().replaceAll(/\s*\n\s*/g, " | ")
    throw new Error(`${program} failed: ${reason || `it ended with ${signal ?? `code ${code}`}`}`)
  })()
  succeeded.catch(() => {})
  return { child, output: child.stdout, succeeded }
}

/** Returns the major version of a program. Throws if the program is missing or older than `least`, the version of `what`. */
export const checkProgram = async (
  program: ClientProgram,
  pgBin: string | undefined,
  least: number,
  what: string,
): Promise<number> => {
  const { output, succeeded } = startClient(program, ["--version"], { pgBin })
  let text = ""
  try {
    for await (const chunk of output) text += chunk
    await succeeded
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT"
    if (!isMissing) throw error
    const place = pgBin === undefined ? "on the PATH" : `in PG_BIN (${pgBin})`
    throw new Error(`${program} is not ${place}: ${install(least)}.`)
  }
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(text)?.[1])
  if (major >= least) return major
  throw new Error(`${program} is version ${major}, but ${what} is version ${least}: ${install(least)}.`)
}
