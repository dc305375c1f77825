import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { newResults } from "../../../bench/report/files.ts"
import { writeReadme } from "../../../bench/report/readme.ts"
import { begunAt } from "./sample.ts"

it("the bench replaces only the text between its markers in the README, and rejects a README without markers", async () => {
  const directory = await mkdtemp(join(tmpdir(), "bench-readme-"))
  const path = join(directory, "README.md")
  const results = newResults(begunAt, [], [])
  await writeFile(path, "# Title\n<!-- bench -->\nold\n<!-- /bench -->\nend\n")
  await writeReadme(results, path)
  const text = await readFile(path, "utf8")
  expect(text).toMatch(/^# Title\n<!-- bench -->\nMeasured 2026-01-02.*\n<!-- \/bench -->\nend\n$/s)
  expect(text).not.toContain("old")
  await writeReadme(results, path)
  expect(await readFile(path, "utf8")).toBe(text)
  await writeFile(path, "# Title\n")
  await expect(writeReadme(results, path)).rejects.toThrow(/does not contain the markers <!-- bench -->/)
  await rm(directory, { recursive: true })
})
