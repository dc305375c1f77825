import { execFile } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { findProgram } from "../fixtures/suite/system-program.ts"

const folder = join(import.meta.dirname, "../../deploy/systemd")
const analyze = findProgram("systemd")
const units = readdirSync(folder)

/** The highest exposure that `systemd-analyze security` may report: 0 is a service without any rights, 100 one with all. */
const maxExposure = 25

/** Copies the units with the path of this machine's Node, because systemd checks that the program exists. */
const copyUnits = (): string => {
  const target = mkdtempSync(join(tmpdir(), "units-"))
  chmodSync(target, 0o755)
  for (const unit of units) {
    const text = readFileSync(join(folder, unit), "utf8")
    writeFileSync(join(target, unit), text.replaceAll("/usr/bin/node", process.execPath))
  }
  return target
}

it.skipIf(analyze === undefined).each(units)("systemd accepts %s without a warning", async (unit) => {
  const { stderr, stdout } = await promisify(execFile)(analyze ?? "", ["verify", join(copyUnits(), unit)])
  expect(stdout + stderr).toBe("")
})

const services = units.filter((unit) => unit.endsWith(".service"))

it.skipIf(analyze === undefined).each(services)("%s gives its process few rights", async (unit) => {
  const flags = ["security", "--offline=true", `--threshold=${maxExposure}`, join(copyUnits(), unit)]
  await expect(promisify(execFile)(analyze ?? "", flags)).resolves.toBeDefined()
})
