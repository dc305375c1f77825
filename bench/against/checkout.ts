import { existsSync, readFileSync } from "node:fs"
import { symlink } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { BenchFailure, UsageError } from "../failure.ts"
import type { Build } from "../process/bundle.ts"
import { runCommand } from "../process/command.ts"
import { makeDirectory } from "../process/directory.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const git = async (...args: readonly string[]): Promise<string> =>
  (await runCommand("git", args, { cwd: root })).trim()

export interface Commit {
  readonly hash: string
  /**
   * The name of the commit in the report: the ref from the command line with the short hash, or only the short hash
   * if the ref is a hash.
   */
  readonly label: string
}

export async function findCommit(ref: string): Promise<Commit> {
  try {
    const hash = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)
    const short = await git("rev-parse", "--short", hash)
    return { hash, label: hash.startsWith(ref) ? short : `${ref} (${short})` }
  } catch {
    throw new UsageError(`--against must be a commit of this repository, not "${ref}"`)
  }
}

/** Returns the short hash of HEAD, and says if the working tree has uncommitted changes. */
export async function describeWorkingTree(): Promise<string> {
  const short = await git("rev-parse", "--short", "HEAD")
  return (await git("status", "--porcelain")) === "" ? short : `${short} with changes`
}

/**
 * Builds another commit in a temporary directory. The `build` script of that commit (or its `prestart` script)
 * creates the program that its `start` script names. The bench relies on no other paths of the commit, because they
 * may differ from those of this tree.
 */
export async function buildCommit({ hash }: Commit, onStep: (step: string) => void): Promise<Build> {
  const directory = await makeDirectory()
  const archive = join(directory, "commit.tar")
  const checkout = join(directory, "checkout")
  onStep("checking out the other commit")
  await runCommand("git", ["archive", "--format=tar", "--prefix=checkout/", "-o", archive, hash], {
    cwd: root,
  })
  await runCommand("tar", ["-xf", archive, "-C", directory], { cwd: directory })
  await install(checkout, onStep)
  onStep("building the other commit")
  const { scripts = {} } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    scripts?: Readonly<Record<string, string>>
  }
  const script = ["build", "prestart"].find((name) => scripts[name] !== undefined)
  if (script !== undefined) await runCommand("npm", ["run", "--silent", script], { cwd: checkout })
  const { flags, program } = readStartScript(scripts["start"] ?? "")
  const file = join(checkout, program)
  if (!existsSync(file)) throw new BenchFailure(`the build of the other commit did not create ${program}`)
  return { program: pathToFileURL(file), nodeFlags: flags }
}

/**
 * Installs the packages of the other commit. If its lock file equals ours, our node_modules directory is linked
 * instead.
 */
async function install(checkout: string, onStep: (step: string) => void): Promise<void> {
  const lockOf = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8")
  if (lockOf(checkout) === lockOf(root)) {
    await symlink(join(root, "node_modules"), join(checkout, "node_modules"))
    return
  }
  onStep("installing the other commit's packages")
  await runCommand("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: checkout })
}

/** Reads Node's flags and the program from a start script such as `exec node --flag=1 dist/main.js`. */
export function readStartScript(script: string): {
  readonly flags: readonly string[]
  readonly program: string
} {
  const words = script.split(/\s+/)
  return {
    flags: words.filter((word) => word.startsWith("--")),
    program: words.find((word) => /\.[cm]?js$/.test(word)) ?? "dist/main.js",
  }
}
