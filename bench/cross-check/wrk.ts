import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { BenchFailure } from "../failure.ts"
import { type Target, urlOfTarget } from "../load/request.ts"
import { runCommand } from "../process/command.ts"
import { makeDirectory, removeDirectory } from "../process/directory.ts"
import type { Measured } from "./measured.ts"

const msPerUnit: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

/** Reads the text that wrk prints with `--latency`. */
export function parseWrk(text: string): Measured & { readonly operations: number } {
  const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN)
  const latency = (percent: number) => {
    const [, value, unit = ""] = new RegExp(`^ +${percent}% +([\\d.]+)(us|ms|s|m)$`, "m").exec(text) ?? []
    return value === undefined ? undefined : Number(value) * msPerUnit[unit]!
  }
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)
  const refused = number(/Non-2xx or 3xx responses: (\d+)/)
  const ratePerSecond = number(/^Requests\/sec: +([\d.]+)$/m)
  const operations = number(/(\d+) requests in /)
  if (Number.isNaN(ratePerSecond) || Number.isNaN(operations))
    throw new BenchFailure(`wrk printed no result: ${text.trim().slice(-500)}`)
  return {
    ratePerSecond,
    operations,
    p50Ms: latency(50),
    p99Ms: latency(99),
    errors:
      (Number.isNaN(refused) ? 0 : refused) +
      (socketErrors?.slice(1).reduce((sum, count) => sum + Number(count), 0) ?? 0),
  }
}

/** Sends the paths in random order over all connections, as the generator of the bench does. */
const scriptOf = (paths: readonly string[]): string =>
  [
    "local requests = {}",
    `local paths = { ${paths.map((path) => JSON.stringify(path)).join(", ")} }`,
    'init = function() for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end',
    "request = function() return requests[math.random(#requests)] end",
    "",
  ].join("\n")

export async function runWrk(
  target: Target,
  paths: readonly string[],
  connections: number,
  seconds: number,
): Promise<Measured & { readonly operations: number }> {
  const directory = await makeDirectory()
  try {
    const script = join(directory, "lookups.lua")
    await writeFile(script, scriptOf(paths))
    const flags = ["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`]
    const url = urlOfTarget(target, "")
    return parseWrk(
      await runCommand("wrk", [...flags, "--latency", "--script", script, url], { cwd: directory }),
    )
  } finally {
    await removeDirectory(directory)
  }
}
