import { readFile, writeFile } from "node:fs/promises"
import { BenchFailure } from "../failure.ts"
import type { Results } from "./results.ts"
import { headlineTable } from "./table.ts"

const begin = "<!-- bench -->"
const end = "<!-- /bench -->"

/** Writes the headline table between the two markers of the README. Returns the path of the file. */
export async function writeReadme(results: Results, path = "bench/README.md"): Promise<string> {
  const text = await readFile(path, "utf8")
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from)
    throw new BenchFailure(`${path} does not contain the markers ${begin} and ${end}`)
  await writeFile(path, `${text.slice(0, from + begin.length)}\n${headlineTable(results)}\n${text.slice(to)}`)
  return path
}
