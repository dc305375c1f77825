import { existsSync, lstatSync, readdirSync, realpathSync, statfsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Config } from "../../config/read-config.ts"
import { type Finding, failed, ok, warning } from "./finding.ts"

const warnBelowBytes = 2 * 1024 ** 3
const failBelowBytes = 256 * 1024 ** 2
const readableByOthers = 0o077

const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GB`

const diskOf = (folder: string): Finding => {
  const { bavail, blocks, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${gigabytes(free)} of ${gigabytes(blocks * bsize)} are free for ${folder}`
  const advice = "Free space or enlarge the disk; when it is full, writes are answered 503."
  if (free < failBelowBytes) return failed("disk", text, advice)
  return free < warnBelowBytes ? warning("disk", text, advice) : ok("disk", text)
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** Secrets that other users of the machine can read, and files that they can replace. */
const openPaths = (dataDir: string): ReadonlyArray<{ readonly path: string; readonly should: string }> => {
  const cluster = join(dataDir, "postgres", "cluster")
  const keys = readdirSync(dataDir).filter((name) => name.startsWith("secret-key"))
  return [
    ...keys.map((name) => ({ path: join(dataDir, name), mask: readableByOthers, should: "600" })),
    { path: cluster, mask: 0o027, should: "700" },
    { path: dataDir, mask: 0o022, should: "755" },
  ].filter(({ mask, path }) => existsSync(path) && (statSync(path).mode & mask) !== 0)
}

const modes = (dataDir: string): ReadonlyArray<Finding> => {
  const open = openPaths(dataDir)
  return open.length === 0
    ? [ok("file modes", `only the owner can read the secrets in ${dataDir}`)]
    : open.map(({ path, should }) =>
        failed(
          "file modes",
          `${path} has the mode ${modeOf(path)}, so other users of this machine have access`,
          `Run: chmod ${should} ${path}`,
        ),
      )
}

/** Where the data is: `elsewhere` points to it if root runs the service below a private folder. */
const dataFolder = (dataDir: string): string => {
  const link = join(dataDir, "postgres", "elsewhere")
  return lstatSync(link, { throwIfNoEntry: false }) !== undefined && existsSync(link)
    ? realpathSync(link)
    : dataDir
}

export const checkFiles = async (config: Config): Promise<ReadonlyArray<Finding>> => {
  const dataDir = resolve(config.dataDir)
  if (!existsSync(dataDir))
    return config.databaseUrl !== undefined && config.secretKeys !== undefined
      ? [ok("disk", "nothing is stored under DATA_DIR")]
      : [
          warning(
            "disk",
            `DATA_DIR ${dataDir} does not exist`,
            "Correct DATA_DIR, or start the service, which creates it.",
          ),
        ]
  return [diskOf(dataFolder(dataDir)), ...modes(dataDir)]
}
