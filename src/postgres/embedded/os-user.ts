import { execFile } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { promisify } from "node:util"

/** The account that Postgres runs as. Without uid and gid, it is the account of this process. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/**
 * The environment of the server and of helper programs. The environment of this process is not passed on: it contains
 * secrets, and its PG* or LC_* variables would configure the server.
 */
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
 * Returns the account that the server runs as. Postgres does not run as root, so a service that runs as root needs
 * another account for it. An existing cluster keeps its owner. So the data stays readable if a `postgres` user is
 * created later, or if the service is started once with sudo.
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
  if (!account) throw new Error("Postgres cannot run as root, and this system has no user postgres or nobody")
  return account
}

const execute = promisify(execFile)

/**
 * Runs a program as this account and returns its standard output. The working directory is `/`, because every account
 * can enter it.
 */
export const runAs = async (
  account: Account,
  file: string,
  args: ReadonlyArray<string>,
  limitMs = 120_000,
): Promise<string> => {
  const options = { ...account, cwd: "/", env: serverEnvironment, timeout: limitMs }
  return (await execute(file, args, options)).stdout
}

/**
 * Whether the account can enter a directory. A shell of the account tries it, because mode bits do not show access
 * control lists and mount options.
 */
export const canEnter = (account: Account, dir: string): Promise<boolean> =>
  runAs(account, "/bin/sh", ["-c", 'cd -- "$1"', "sh", dir]).then(
    () => true,
    () => false,
  )
