import { execFileSync } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { Result, Schema } from "effect"
import { UsageError } from "../failure.ts"
import { plotsOf } from "./plots.ts"
import { Results, type ScenarioResult } from "./results.ts"
import { markdownOf } from "./table.ts"

export function newResults(
  startedAt: Date,
  flags: readonly string[],
  scenarios: readonly ScenarioResult[],
): Results {
  const cores = cpus()
  return {
    format: 1,
    at: startedAt.toISOString(),
    commit: findCommit(),
    node: process.versions.node,
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpu: cores[0]?.model ?? "unknown",
      cores: cores.length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
    },
    flags,
    scenarios,
  }
}

/**
 * Writes the results file, the report and the plots. The results file comes first, so that it is not lost if a plot
 * fails. Returns the paths of the written files.
 */
export async function writeResults(directory: string, results: Results): Promise<string[]> {
  await mkdir(directory, { recursive: true })
  const base = join(directory, results.at.replace(/\.\d+Z$/, "Z").replaceAll(":", "-"))
  const written: string[] = []
  const write = async (path: string, content: string) => {
    await writeFile(path, content)
    written.push(path)
  }
  await write(`${base}.json`, `${JSON.stringify(results, null, 1)}\n`)
  await write(`${base}.md`, markdownOf(results))
  for (const { name, svg } of plotsOf(results)) await write(`${base}.${name}.svg`, svg)
  return written
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
