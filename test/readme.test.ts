import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { routes } from "../src/routes.ts"
import { endpointTable, replacePart, settingTable } from "./fixtures/readme-parts.ts"

const file = join(import.meta.dirname, "../README.md")

it("the tables of the README match the code (npm run docs updates them)", () => {
  const text = readFileSync(file, "utf8")
  const current = replacePart(
    replacePart(text, "endpoints", endpointTable(routes)),
    "settings",
    settingTable(),
  )
  if (process.env["WRITE_README"] === "yes") writeFileSync(file, current)
  else expect(text).toBe(current)
})
