import { execFile } from "node:child_process"
import { cpSync, mkdtempSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
/** The packages that the bundle does not contain, because they have native parts or load their files themselves. */
const packages = ["uWebSockets.js", "@node-rs", "ioredis", "nodemailer", "stripe", "ws"]

it("the built command line needs only the files that the Dockerfile copies", async () => {
  const app = mkdtempSync(join(tmpdir(), "app-"))
  for (const name of ["package.json", "dist", "schema/sql"])
    cpSync(join(root, name), join(app, name), { recursive: true })
  cpSync(join(root, "package.json"), join(app, "node_modules/package.json"))
  for (const name of packages) symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name))
  const run = (...args: ReadonlyArray<string>) =>
    promisify(execFile)(process.execPath, [join(app, "dist/cli/main.js"), ...args], { cwd: app })
  expect((await run("keys", "generate")).stdout).toMatch(/^\w+:[\w+/=-]{43,}\n/)
  expect((await run("--help")).stdout).toContain("users role USER ROLE")
})
