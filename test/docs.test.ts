import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { routes } from "../src/routes.ts"
import { endpointTable, replacePart, settingTable } from "./fixtures/generated-docs.ts"

const root = join(import.meta.dirname, "..")

it.each([
  ["docs/api.md", "endpoints", () => endpointTable(routes)],
  ["docs/settings.md", "settings", settingTable],
])("%s is generated from the code (run npm run docs to update it)", (name, part, table) => {
  const file = join(root, name)
  const text = readFileSync(file, "utf8")
  const current = replacePart(text, part, table())
  if (process.env["WRITE_DOCS"] === "yes") writeFileSync(file, current)
  else expect(text).toBe(current)
})
