import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { routes } from "../src/routes.ts"
import { reservedTable, roleTable, scopeTable } from "./fixtures/access-table.ts"
import { optionsIn, optionTable } from "./fixtures/client-docs.ts"
import { clientTypes } from "./fixtures/client-types.ts"
import { endpointTable, replacePart, settingTable } from "./fixtures/generated-docs.ts"
import { assetTable, networkTable, recordTable, ruleTable } from "./fixtures/wallet-docs.ts"

const root = join(import.meta.dirname, "..")
const clientReadme = "src/client/package/README.md"

it.each([
  ["docs/api.md", "endpoints", () => endpointTable(routes)],
  ["docs/settings.md", "settings", settingTable],
  ["docs/roles.md", "operations", () => roleTable(routes)],
  ["docs/roles.md", "scopes", scopeTable],
  ["docs/wallets.md", "rules", ruleTable],
  ["docs/wallets.md", "records", recordTable],
  ["docs/wallets.md", "networks", networkTable],
  ["docs/wallets.md", "assets", assetTable],
  ["docs/roles.md", "reserved scopes", reservedTable],
  [clientReadme, "client options", () => optionTable(["client-options.ts", "ClientOptions"])],
  [clientReadme, "call options", () => optionTable(["operation.ts", "CallOptions"])],
  [
    clientReadme,
    "verify options",
    () => optionTable(["proofs/verify.ts", "VerifyOptions"], ["proofs/verifier.ts", "ClientVerifyOptions"]),
  ],
])(
  "in %s, the generated table of %s matches the code (update the file with: npm run docs)",
  (name, part, table) => {
    const file = join(root, name)
    const text = readFileSync(file, "utf8")
    const current = replacePart(text, part, table())
    if (process.env["WRITE_DOCS"] === "yes") writeFileSync(file, current)
    else expect(text).toBe(current)
  },
)

it("the README of the client explains every option", () => {
  const text = readFileSync(join(root, clientReadme), "utf8")
  const login = optionsIn("credentials.ts", "CredentialOptions").map(({ name }) => name)
  expect(login).toEqual(expect.arrayContaining(["apiKey", "storage", "token"]))
  for (const name of login) expect(text).toMatch(new RegExp(`^\\| .*\`${name}\``, "m"))
  expect(text).not.toMatch(/^\| `\w+` \|\s+\|$/m)
})

it("the client's types of all operations match the route table (update the file with: npm run docs)", () => {
  const file = join(root, "src/client/api-types.ts")
  const current = clientTypes(routes)
  if (process.env["WRITE_DOCS"] === "yes") writeFileSync(file, current)
  else expect(readFileSync(file, "utf8")).toBe(current)
})

it.each([
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/operating.md",
  "docs/reliability.md",
  "docs/roles.md",
  "docs/wallets.md",
])("all files that %s mentions exist", (page) => {
  const text = readFileSync(join(root, page), "utf8")
  const named = [...text.matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|sql|md))`/g)].map((match) => match[1]!)
  const linked = [...text.matchAll(/\]\(([\w./-]+)(?:#[\w-]+)?\)/g)].map((match) => match[1]!)
  const exists = (name: string) =>
    ["", "src", dirname(page)].some((base) => existsSync(join(root, base, name)))
  expect(named.filter((name) => !exists(name))).toEqual([])
  expect(linked.filter((name) => !existsSync(join(root, dirname(page), name)))).toEqual([])
})
