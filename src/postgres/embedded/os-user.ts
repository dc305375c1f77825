import { execFile } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { promisify } from "node:util"

/** The account Postgres runs as; empty means our own. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** Nothing of our own environment: it holds the service's secrets, and PG* or LC_* variables would steer the server. */
export const serverEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" }

export const isRoot = (): boolean => process.geteuid?.() === 0

const findPasswdEntry = (name: string): Account | undefined => {
  const entry = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => fields[0] === name)
  return entry && { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/**
 * Postgres refuses to run as root. An existing cluster keeps its owner, so that a `postgres` user which appears
 * later, or one start under sudo, does not make the data unreadable.
 */
export const getAccount = (clusterDir: string): Account => {
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (!isRoot()) {
    if (owner && owner.uid !== process.geteuid?.()) {
      throw new Error(
        `${clusterDir} belongs to user id ${owner.uid}: start the service as that user or as root`,
      )
    }
    return {}
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const account = findPasswdEntry("postgres") ?? findPasswdEntry("nobody")
  if (!account) throw new Error("Postgres cannot run as root, and there is no user postgres or nobody")
  return account
}

const execute = promisify(execFile)

/** Runs to the end and answers its standard output. The working directory is one that every account can enter. */
export const runAs = async (
  account: Account,
  file: string,
  args: ReadonlyArray<string>,
  limitMs = 120_000,
): Promise<string> => {
  const options = { ...account, cwd: "/", env: serverEnvironment, timeout: limitMs }
  return (await execute(file, args, options)).stdout
}

/** Asked of the kernel, since mode bits alone would miss access lists and read-only or foreign mounts. */
export const canEnter = (account: Account, dir: string): Promise<boolean> =>
  runAs(account, "/bin/sh", ["-c", 'cd -- "$1"', "sh", dir]).then(
    () => true,
    () => false,
  )
