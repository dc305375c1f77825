import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

it("package-lock.json contains the optional packages of all platforms, so that npm ci works on each platform", () => {
  const text = readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8")
  const packages = (JSON.parse(text) as { packages: Record<string, Locked> }).packages
  const names = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)))
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {}))
    .filter((name) => !names.has(name))
  expect(missing).toEqual([])
})
