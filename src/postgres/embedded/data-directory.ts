import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs"
import { join } from "node:path"
import type { PostgresBinaries } from "./binaries.ts"
import type { Home } from "./home.ts"
import { runAs } from "./os-user.ts"

const unfinishedPrefix = "cluster.initdb-"

/** Since version 17 the code point collation is built in, so a libc upgrade cannot change the order of an index. */
const localeFlags = (major: number): ReadonlyArray<string> =>
  major >= 17 ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : ["--locale=C.UTF-8"]

const syncDirectory = (dir: string): void => {
  const handle = openSync(dir, "r")
  fsyncSync(handle)
  closeSync(handle)
}

/**
 * Creates the cluster under another name and renames it when it is complete and on disk. So a cluster is never
 * partial.
 */
const createCluster = async (
  { dir, clusterDir, account }: Home,
  binaries: PostgresBinaries,
): Promise<void> => {
  const unfinished = mkdtempSync(join(dir, unfinishedPrefix))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(unfinished, account.uid, account.gid)
  const authentication = ["--auth-local=trust", "--auth-host=reject"]
  const flags = ["--username=postgres", "--encoding=UTF8", "--no-instructions", ...authentication]
  try {
    await runAs(account, join(binaries.binDir, "initdb"), [
      "-D",
      unfinished,
      ...flags,
      ...localeFlags(binaries.major),
    ])
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw new Error(`initdb failed: ${String(error).trim().split("\n").slice(1).join(" | ") || error}`)
  }
  renameSync(unfinished, clusterDir)
  syncDirectory(dir)
}

const removeUnfinished = (dir: string): void => {
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(unfinishedPrefix)) continue
    try {
      rmSync(join(dir, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // An initdb of a killed service may still write there. A later start removes it.
    }
  }
}

/** Repairs owner and mode, which Postgres checks. A backup restored by root has the wrong ones. */
const repairPermissions = async ({ clusterDir, account }: Home): Promise<void> => {
  const { uid, mode } = statSync(clusterDir)
  if (account.uid !== undefined && uid !== account.uid) {
    await runAs({}, "chown", ["-R", "-h", `${account.uid}:${account.gid}`, clusterDir])
  }
  if ((mode & 0o027) !== 0) chmodSync(clusterDir, 0o700)
}

/** Creates or checks the cluster for these binaries. The caller holds the lock of the directory. */
export const prepareCluster = async (home: Home, binaries: PostgresBinaries): Promise<void> => {
  removeUnfinished(home.dir)
  if (!existsSync(home.clusterDir)) return createCluster(home, binaries)
  const major = readFileSync(join(home.clusterDir, "PG_VERSION"), "utf8").trim()
  if (major !== String(binaries.major)) {
    throw new Error(
      `${home.clusterDir} was created by PostgreSQL ${major}, but ${binaries.binDir} is PostgreSQL ${binaries.major}`,
    )
  }
  await repairPermissions(home)
}
