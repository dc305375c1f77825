import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { referenceOf } from "../../src/docs-page/routes.ts"
import { routes } from "../../src/routes.ts"
import { testConfig } from "../fixtures/test-service.ts"

/**
 * Checks the documents with the tools that other developers use. The tools need an older TypeScript and about 200
 * packages, so they have a package.json of their own in test/api-linters. The test installs them when they are missing.
 */
const folder = join(import.meta.dirname, "../api-linters")
const run = promisify(execFile)
const environment = {
  ...process.env,
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  NO_COLOR: "1",
}

const install = async (): Promise<boolean> => {
  if (existsSync(join(folder, "node_modules/@redocly"))) return true
  return run("npm", ["ci", "--ignore-scripts"], { cwd: folder }).then(
    () => true,
    (error: Error) => {
      console.warn(`\n!! THE LINTERS OF THE API DOCUMENTS ARE NOT INSTALLED: ${error.message}\n`)
      return false
    },
  )
}
const isInstalled = await install()

/** Runs a program of test/api-linters. Returns what it prints, also if it fails. */
const tool = async (name: string, ...parameters: ReadonlyArray<string>) => {
  const options = { cwd: folder, env: environment, maxBuffer: 64 * 1024 * 1024 }
  return run(join(folder, "node_modules/.bin", name), [...parameters], options).then(
    ({ stderr, stdout }) => ({ exitCode: 0, stderr, stdout }),
    ({ code, stderr, stdout }) => ({
      exitCode: code as number,
      stderr: String(stderr),
      stdout: String(stdout),
    }),
  )
}

const scratch = mkdtempSync(join(tmpdir(), "api-linters-"))
const write = (name: string, text: string): string => {
  writeFileSync(join(scratch, name), text)
  return join(scratch, name)
}

describe.skipIf(!isInstalled)("the API documents", () => {
  it.each(["http://localhost:3001", "https://api.emoji.test"])(
    "have no problem that the recommended rules of Redocly report, on %s",
    async (baseUrl) => {
      const { openApi } = referenceOf(testConfig({ BASE_URL: baseUrl }), routes)
      const { stdout } = await tool(
        "redocly",
        "lint",
        write("openapi.json", JSON.stringify(openApi)),
        "--format=json",
      )
      const { problems, totals } = JSON.parse(stdout.slice(stdout.indexOf("{")))
      const found = (problems as ReadonlyArray<{ ruleId: string; message: string; location: unknown }>).map(
        ({ location, message, ruleId }) => `${ruleId}: ${message} ${JSON.stringify(location)}`,
      )
      expect(found).toEqual([])
      expect(totals).toMatchObject({ errors: 0, warnings: 0 })
    },
  )

  it("give types with openapi-typescript that compile, without a warning", async () => {
    const { openApi } = referenceOf(testConfig(), routes)
    const types = join(scratch, "api.d.ts")
    const generated = await tool(
      "openapi-typescript",
      write("types.json", JSON.stringify(openApi)),
      "-o",
      types,
    )
    expect(generated.exitCode).toBe(0)
    expect(`${generated.stdout}${generated.stderr}`).not.toMatch(/warn|⚠|✘|error/i)
    write(
      "use.ts",
      `import type { paths } from "./api.js"
type Lookup = paths["/emoji_id/{emoji_id}"]["get"]["responses"][200]["content"]["application/json"]
export const dataOf = (lookup: Lookup): ReadonlyArray<string> => (lookup.result ?? []).map(({ data }) => data)\n`,
    )
    const compilerOptions = { noEmit: true, strict: true, module: "nodenext", types: [] }
    const config = write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["use.ts"] }))
    const compiled = await tool("tsc", "-p", config)
    expect([compiled.exitCode, compiled.stdout]).toEqual([0, ""])
  })

  it("are read by the AsyncAPI parser without a diagnostic", async () => {
    const { asyncApi } = referenceOf(testConfig(), routes)
    const parser = write(
      "parse.cjs",
      `const { Parser } = require(${JSON.stringify(join(folder, "node_modules/@asyncapi/parser"))})
new Parser().parse(${JSON.stringify(JSON.stringify(asyncApi))}).then(({ diagnostics, document }) =>
  console.log(JSON.stringify({ diagnostics, isRead: document !== undefined })))`,
    )
    const { stdout } = await run(process.execPath, [parser])
    expect(JSON.parse(stdout)).toEqual({ diagnostics: [], isRead: true })
  })
})
