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
export const unfinishedRestorePrefix = "cluster.restore-"

/**
 * Returns the locale flags of initdb. Postgres 17 and newer have a built-in collation by code point, so an upgrade of
 * libc cannot change the order of an index.
 */
const localeFlags = (major: number): ReadonlyArray<string> =>
  major >= 17 ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : ["--locale=C.UTF-8"]

export const syncDirectory = (dir: string): void => {
  const handle = openSync(dir, "r")
  fsyncSync(handle)
  closeSync(handle)
}

/**
 * Creates the cluster under another name, and renames it when it is complete and on disk. So `clusterDir` never
 * contains a partial cluster.
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

/** Removes the folders of interrupted processes. The caller holds the lock of the directory. */
export const removeUnfinished = (dir: string): void => {
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(unfinishedPrefix) && !name.startsWith(unfinishedRestorePrefix)) continue
    try {
      rmSync(join(dir, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // An initdb of a killed service may still write to this folder. A later start removes the folder.
    }
  }
}

/**
 * Repairs the owner and the mode of the cluster directory, which Postgres checks. After root has restored a backup,
 * both may be wrong.
 */
const repairPermissions = async ({ clusterDir, account }: Home): Promise<void> => {
  const { uid, mode } = statSync(clusterDir)
  if (account.uid !== undefined && uid !== account.uid) {
    await runAs({}, "chown", ["-R", "-h", `${account.uid}:${account.gid}`, clusterDir])
  }
  if ((mode & 0o027) !== 0) chmodSync(clusterDir, 0o700)
}

/**
 * Creates the cluster. If it exists, checks that its major version is that of these binaries, and repairs its
 * permissions. The caller holds the lock of the directory.
 */
export const prepareCluster = async (home: Home, binaries: PostgresBinaries): Promise<void> => {
  removeUnfinished(home.dir)
  if (!existsSync(home.clusterDir)) return createCluster(home, binaries)
  const major = readFileSync(join(home.clusterDir, "PG_VERSION"), "utf8").trim()
  if (major !== String(binaries.major)) {
    throw new Error(
      `${home.clusterDir} was created by PostgreSQL ${major}, but ${binaries.binDir} is PostgreSQL ${binaries.major}: set PG_BIN to the programs of PostgreSQL ${major}; "Another version of PostgreSQL" in docs/operating.md describes how to change the version`,
    )
  }
  await repairPermissions(home)
}
