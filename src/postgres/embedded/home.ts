import { createHash } from "node:crypto"
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { makeDataFolder, makeFolder } from "../../config/make-folder.ts"
import { type Account, canEnter, getAccount, isRoot } from "./os-user.ts"

/**
 * The folder in which root stores files for an unprivileged server. It is not in a temp directory, because the system
 * removes old files from temp directories.
 */
export const stateRoot = "/var/lib/emoji-id-directory"

export const socketPort = 5432

/**
 * The maximum length of a socket path. The field `sun_path` of the system has 108 bytes, including the NUL at its
 * end.
 */
const socketPathLimitBytes = 107

export interface Home {
  readonly dir: string
  readonly clusterDir: string
  readonly account: Account
}

/**
 * Creates the directory. As root, it also allows the account of the server to enter the directory and the parents
 * that were created with it.
 */
const makeDirectory = (dataDir: string): void => {
  const firstMade = makeDataFolder(dataDir) ?? dataDir
  if (!isRoot()) return
  for (let dir = dataDir; dir.length >= firstMade.length; dir = dirname(dir)) {
    const { mode, uid } = statSync(dir)
    if (uid === 0 && (mode & 0o001) === 0) chmodSync(dir, (mode & 0o7777) | 0o011)
  }
}

/**
 * Creates a folder under the state root, and a link to it in the data directory. Returns the path of the folder. Its
 * name is random, not a hash of the path of the data directory: otherwise a new data directory would find the data of
 * a removed one.
 */
const makeElsewhere = (dataDir: string, link: string): string => {
  makeFolder(stateRoot)
  chmodSync(stateRoot, 0o755)
  const target = mkdtempSync(join(stateRoot, "data-"))
  chmodSync(target, 0o711)
  writeFileSync(join(target, "belongs-to"), `${dataDir}\n`)
  try {
    symlinkSync(target, link)
  } catch {
    // Another process created the link first. The folder behind that link is used.
    rmSync(target, { recursive: true })
  }
  return realpathSync(link)
}

/**
 * Prepares the directory that contains the lock file and the cluster. It is the data directory, with one exception:
 * the service runs as root, and the data directory is below a private directory (such as a clone in /root). The
 * permissions of that private directory are not changed. Instead, the data is stored under the state root, and the
 * link `elsewhere` in the data directory points to it.
 */
export const prepareHome = async (dataDir: string): Promise<Home> => {
  makeDirectory(dataDir)
  const link = join(dataDir, "elsewhere")
  const linked = lstatSync(link, { throwIfNoEntry: false }) !== undefined
  if (linked && !existsSync(link)) {
    throw new Error(
      `${link} points to data that does not exist: restore it, or remove the link to start empty`,
    )
  }
  const dir = realpathSync(linked ? link : dataDir)
  const clusterDir = join(dir, "cluster")
  const account = getAccount(clusterDir)
  if (account.uid === undefined || (await canEnter(account, dir))) return { dir, clusterDir, account }
  if (linked || existsSync(clusterDir)) {
    throw new Error(
      `${clusterDir} contains data, but user id ${account.uid} cannot enter one of its parent directories any more`,
    )
  }
  const elsewhere = makeElsewhere(dataDir, link)
  return { dir: elsewhere, clusterDir: join(elsewhere, "cluster"), account }
}

const fitsSocket = (dir: string): boolean =>
  Buffer.byteLength(join(dir, `.s.PGSQL.${socketPort}`)) <= socketPathLimitBytes

/**
 * Creates a private directory, or checks that an existing one is private and belongs to us. The check is needed
 * because every user can create any name in a temp directory.
 */
const makePrivate = (dir: string, account: Account): void => {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const self = process.geteuid?.()
  const found = lstatSync(dir)
  const trusted =
    found.isDirectory() && (found.uid === self || found.uid === account.uid) && (found.mode & 0o077) === 0
  if (!trusted)
    throw new Error(
      `${dir} is required for the database socket, but it is not a private directory of this service`,
    )
  // The owner is changed only while this process owns the directory. If the server's account owned it, that account
  // could have replaced it by a link.
  if (account.uid !== undefined && account.gid !== undefined && found.uid === self) {
    chownSync(dir, account.uid, account.gid)
  }
}

/**
 * Returns the directory of the socket: the cluster's private directory, or a directory in a temp directory if the
 * path of the cluster is too long for a socket.
 */
export const prepareSocketDir = async ({ dir, clusterDir, account }: Home): Promise<string> => {
  if (fitsSocket(clusterDir)) return clusterDir
  const name = `emoji-id-directory-${createHash("sha256").update(dir).digest("hex").slice(0, 16)}`
  for (const parent of [tmpdir(), "/tmp"]) {
    const socketDir = join(parent, name)
    if (!fitsSocket(socketDir) || !(await canEnter(account, parent))) continue
    makePrivate(socketDir, account)
    return socketDir
  }
  throw new Error(
    `no directory for the database socket: ${clusterDir} and ${tmpdir()} are too long or not accessible`,
  )
}

/**
 * Removes the socket directory, if it is a separate one and is empty. After a crash it contains files, which the next
 * start removes.
 */
export const removeSocketDir = ({ clusterDir }: Home, socketDir: string): void => {
  if (socketDir === clusterDir) return
  try {
    rmdirSync(socketDir)
  } catch {
    // The directory is not empty, or the system has already removed it.
  }
}
