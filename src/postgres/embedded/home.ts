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
import { makeFolder } from "../../config/make-folder.ts"
import { type Account, canEnter, getAccount, isRoot } from "./os-user.ts"

/** Where root keeps what an unprivileged server must reach. Not a temp directory: those are emptied by age. */
export const stateRoot = "/var/lib/emoji-id-directory"

export const socketPort = 5432

/** sun_path is 108 bytes with its closing NUL. */
const socketPathLimitBytes = 107

export interface Home {
  readonly dir: string
  readonly clusterDir: string
  readonly account: Account
}

/** As root, lets the server's account pass through what we made (whatever our umask) and through the directory itself. */
const makeDirectory = (dataDir: string): void => {
  const firstMade = makeFolder(dataDir) ?? dataDir
  if (!isRoot()) return
  for (let dir = dataDir; dir.length >= firstMade.length; dir = dirname(dir)) {
    const { mode, uid } = statSync(dir)
    if (uid === 0 && (mode & 0o001) === 0) chmodSync(dir, (mode & 0o7777) | 0o011)
  }
}

/** The name is random and not a hash of the path: a removed and re-made data directory must not find old data. */
const makeElsewhere = (dataDir: string, link: string): string => {
  makeFolder(stateRoot)
  chmodSync(stateRoot, 0o755)
  const target = mkdtempSync(join(stateRoot, "data-"))
  chmodSync(target, 0o711)
  writeFileSync(join(target, "belongs-to"), `${dataDir}\n`)
  try {
    symlinkSync(target, link)
  } catch {
    // Another process was first; its link counts.
    rmSync(target, { recursive: true })
  }
  return realpathSync(link)
}

/**
 * The directory that holds lock and cluster: the data directory itself, unless we are root and it lies below a private
 * directory (a clone in /root). We do not open up directories that are not ours, so the data then lives under
 * the state root and a link named `elsewhere` in the data directory says where.
 */
export const prepareHome = async (dataDir: string): Promise<Home> => {
  makeDirectory(dataDir)
  const link = join(dataDir, "elsewhere")
  const linked = lstatSync(link, { throwIfNoEntry: false }) !== undefined
  if (linked && !existsSync(link)) {
    throw new Error(`${link} points to data that is gone: restore it, or remove the link to start empty`)
  }
  const dir = realpathSync(linked ? link : dataDir)
  const clusterDir = join(dir, "cluster")
  const account = getAccount(clusterDir)
  if (account.uid === undefined || (await canEnter(account, dir))) return { dir, clusterDir, account }
  if (linked || existsSync(clusterDir)) {
    throw new Error(
      `${clusterDir} holds data, but user id ${account.uid} may no longer enter a directory above it`,
    )
  }
  const elsewhere = makeElsewhere(dataDir, link)
  return { dir: elsewhere, clusterDir: join(elsewhere, "cluster"), account }
}

const fitsSocket = (dir: string): boolean =>
  Buffer.byteLength(join(dir, `.s.PGSQL.${socketPort}`)) <= socketPathLimitBytes

/** Anybody may create names in a temp directory, so one that is there already must be provably ours. */
const makePrivate = (dir: string, account: Account): void => {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const self = process.geteuid?.()
  const found = lstatSync(dir)
  const trusted =
    found.isDirectory() && (found.uid === self || found.uid === account.uid) && (found.mode & 0o077) === 0
  if (!trusted)
    throw new Error(`${dir} is needed for the database socket, but is not a private directory of ours`)
  // Only while it is our own: an entry the server's account owns could be swapped for a link under our hands.
  if (account.uid !== undefined && account.gid !== undefined && found.uid === self) {
    chownSync(dir, account.uid, account.gid)
  }
}

/** The cluster's own 0700 directory guards the socket; a path too long for a socket gets a short stand-in. */
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
    `no directory for the database socket: ${clusterDir} and ${tmpdir()} are too long or closed`,
  )
}

/** A server that ended well has emptied it; what a crash left inside is cleared by the next start. */
export const removeSocketDir = ({ clusterDir }: Home, socketDir: string): void => {
  if (socketDir === clusterDir) return
  try {
    rmdirSync(socketDir)
  } catch {
    // Not empty, or swept away by the system's own cleaning.
  }
}
