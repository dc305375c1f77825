import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

interface Report {
  readonly testResults: ReadonlyArray<{ readonly name: string; readonly status: string }>
}

const scratch = mkdtempSync(join(tmpdir(), "directory-run-"))
const report = join(scratch, "report.json")

/** As npm runs it, with the project's programs on the path. */
const runTests = (args: ReadonlyArray<string>): boolean => {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const { error, status } = spawnSync("vitest", ["run", ...reporters, ...args], { stdio: "inherit" })
  if (error !== undefined) throw error
  return status === 0
}

const failedFiles = (): ReadonlyArray<string> => {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
    return testResults.filter(({ status }) => status === "failed").map(({ name }) => name)
  } catch {
    return []
  }
}

/**
 * A shared machine may starve a test of real processes, sockets and browsers once; twice is a fault. A test tried again
 * where it stood would meet what its first try left behind, so the whole file is run anew, on a database of its own.
 */
const runAgain = (): boolean => {
  const files = failedFiles()
  if (process.env["CI"] === undefined || files.length === 0) return false
  console.warn(`\nRun once more, by themselves:\n${files.join("\n")}\n`)
  return runTests(["--maxWorkers=1", ...files])
}

try {
  process.exitCode = runTests(process.argv.slice(2)) || runAgain() ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
