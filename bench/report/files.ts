import { execFileSync } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { cpus, loadavg, totalmem } from "node:os"
import { join } from "node:path"
import { Result, Schema } from "effect"
import { UsageError } from "../failure.ts"
import { csvOf } from "./csv.ts"
import { distributionsOf } from "./histograms.ts"
import { plotsOf } from "./plots.ts"
import { Results, type ScenarioResult } from "./results.ts"
import { markdownOf } from "./table.ts"

/** Returns the facts about the machine. It is called before the measurement, which increases the load. */
export function readMachine(): Results["machine"] {
  const cores = cpus()
  return {
    platform: `${process.platform} ${process.arch}`,
    cpu: cores[0]?.model ?? "unknown",
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadAtStart: loadavg()[0] ?? 0,
  }
}

export const newResults = (
  begun: Pick<Results, "at" | "machine" | "method">,
  flags: readonly string[],
  scenarios: readonly ScenarioResult[],
): Results => ({
  format: 1,
  ...begun,
  commit: findCommit(),
  node: process.versions.node,
  flags,
  scenarios,
})

/**
 * Writes the results file, the report, the plots and the histograms. The results file comes first, so that it is not
 * lost if a plot fails. Returns the paths of the written files.
 */
export async function writeResults(directory: string, results: Results): Promise<string[]> {
  const base = join(directory, results.at.replace(/\.\d+Z$/, "Z").replaceAll(":", "-"))
  await mkdir(`${base}.histograms`, { recursive: true })
  const written: string[] = []
  const write = async (path: string, content: string) => {
    await writeFile(path, content)
    written.push(path)
  }
  await write(`${base}.json`, `${JSON.stringify(results, null, 1)}\n`)
  await write(`${base}.csv`, csvOf(results))
  await write(`${base}.md`, markdownOf(results))
  for (const { name, svg } of plotsOf(results)) await write(`${base}.${name}.svg`, svg)
  for (const { csv, hgrm, name } of distributionsOf(results)) {
    await writeFile(`${base}.histograms/${name}.hgrm`, hgrm)
    await writeFile(`${base}.histograms/${name}.csv`, csv)
  }
  return [...written, `${base}.histograms/`]
}

export async function readResults(path: string): Promise<Results> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch {
    throw new UsageError(`--compare: ${path} cannot be read`)
  }
  const decoded = Schema.decodeUnknownResult(Schema.fromJsonString(Results))(text)
  if (Result.isSuccess(decoded)) return decoded.success
  throw new UsageError(`--compare: ${path} is not a results file of this format`)
}

function findCommit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  try {
    const commit = git("rev-parse", "--short", "HEAD").trim()
    return git("diff", "--name-only", "HEAD") === "" ? commit : `${commit} with changes`
  } catch {
    return "unknown"
  }
}
