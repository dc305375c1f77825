import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parseCommand } from "../../src/cli/command-line/parse.ts"
import { commands } from "../../src/cli/commands.ts"
import { connect } from "../../src/postgres/client.ts"
import { prepareDatabase } from "../../src/postgres/schema/prepare-database.ts"
import { createDatabase } from "../fixtures/database.ts"

const root = join(import.meta.dirname, "../..")
const read = (name: string) => readFileSync(join(root, name), "utf8")
const page = read("docs/operating.md")

const programs =
  /^(npm|node|docker|systemd-run|systemctl|journalctl|pg_dump|pgbackrest|apt-get|curl|mv|cd|cp|ss|tar|40 2)\s/
const statements = /^(select|update|alter) /

/** The commands of the page: the lines of its blocks, and what is written in one line of text as code. */
const fence = /^```(\w*)\n([\s\S]*?)^```/gm
const inBlocks = [...page.matchAll(fence)].flatMap(([, language, block = ""]) =>
  language === "" || language === "sh" ? block.replaceAll("\\\n", " ").split("\n") : [],
)
const inline = [...page.replaceAll(fence, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)
const documented = [...inBlocks, ...inline].map((line) => line.trim())
const cliLine = /^(?:npm run (?:--silent )?cli --|node dist\/cli\/main\.js) (?!COMMAND)(.+)$/
const cliLines = documented.flatMap((line) => cliLine.exec(line)?.[1] ?? [])
const shellLines = documented.filter((line) => programs.test(line) && !cliLine.test(line))

/** The test that runs each command of the command line. */
const commandTests: Readonly<Record<string, string>> = {
  ...Object.fromEntries(commands.map(({ name }) => [name, "test/cli/cli.test.ts"])),
  "users export": "test/cli/personal-data.test.ts",
  "users erase": "test/cli/personal-data.test.ts",
  "ids import": "test/cli/ids-import.test.ts",
  "live watch": "test/cli/live-watch.test.ts",
  "keys generate": "test/deploy/built-command-line.test.ts",
  "keys reseal": "test/cli/keys-reseal.test.ts",
  "signing-keys list": "test/proofs/proofs.test.ts",
  "signing-keys rotate": "test/proofs/proofs.test.ts",
  "signing-keys retire": "test/proofs/proofs.test.ts",
  verify: "test/proofs/proofs.test.ts",
  "mail test": "test/cli/doctor.test.ts",
  "demo remove": "test/main.test.ts",
  restore: "test/backup/cluster.test.ts",
}

const noContainers = "needs a container engine, which the machine of the tests does not have"
const noSystemd = "needs a running systemd, which the machine of the tests does not have"
/** The other commands, by their beginning: the test that runs them, or the reason why none does. */
const shellCommands: ReadonlyArray<{
  readonly begins: string
  readonly runBy?: string
  readonly notRun?: string
}> = [
  { begins: "npm ci && npm run build", runBy: ".ci/run" },
  { begins: "NODE_ENV=production node", runBy: "test/main.test.ts" },
  {
    begins: "cd /opt/emoji-id-directory",
    notRun: "the steps before `npm prune` are those of .ci/run; the folder is the operator's",
  },
  { begins: "npm run bench", notRun: "takes minutes to hours; docs/operating.md has the results" },
  { begins: "npm run --silent cli", runBy: "test/cli/cli.test.ts" },
  { begins: "npm run cli", runBy: "test/cli/cli.test.ts" },
  { begins: "node dist/cli/main.js COMMAND", runBy: "test/deploy/built-command-line.test.ts" },
  { begins: "docker", notRun: noContainers },
  { begins: "40 2 * * * root cd", notRun: noContainers },
  { begins: "systemd-run", notRun: noSystemd },
  { begins: "systemctl", notRun: noSystemd },
  { begins: "journalctl", notRun: noSystemd },
  { begins: "curl", runBy: "test/readme.test.ts" },
  { begins: "mv", notRun: "renames folders of the operator" },
  { begins: "tar -tzf FILE", runBy: "test/backup/cluster.test.ts" },
  { begins: "pg_dump", notRun: "needs PostgreSQL 18 and a newer version" },
  { begins: "pgbackrest", notRun: "pgBackRest is not part of the product" },
  { begins: "apt-get", notRun: "installs pgBackRest" },
]

it("every command of the command line in docs/operating.md exists with these arguments", () => {
  expect(cliLines.length).toBeGreaterThan(10)
  const refused = cliLines.filter((line) => {
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""))
    const parsed = parseCommand(words, commands)
    // The name of a subject or of a command without its arguments stands for the command.
    const isName = commands.some(({ name }) => name === line || name.startsWith(`${line} `))
    return !isName && !("input" in parsed)
  })
  expect(refused).toEqual([])
})

it("a test runs every command of the command line", () => {
  const notRun = Object.entries(commandTests).filter(([name, file]) => {
    const words = name.split(" ").map((word) => `"${word}"`)
    return !new RegExp(`${words.join(",?\\s+")}|\\b${name}\\b`).test(read(file))
  })
  expect(notRun).toEqual([])
})

it("a test runs every other command of docs/operating.md, or it is listed here with the reason", () => {
  const unlisted = shellLines.filter((line) => !shellCommands.some(({ begins }) => line.startsWith(begins)))
  expect(unlisted).toEqual([])
  for (const { begins, notRun, runBy } of shellCommands) {
    expect([begins, documented.some((line) => line.startsWith(begins))]).toEqual([begins, true])
    expect(runBy === undefined ? notRun : existsSync(join(root, runBy))).toBeTruthy()
  }
})

it("the database accepts every statement of docs/operating.md", async () => {
  const connection = await createDatabase()
  await prepareDatabase(connection, 8000, { serves: true })
  const sql = connect({ connection, poolSize: 1, statementTimeoutMs: 60_000 })
  const complete = inline.filter((text) => statements.test(text) && !text.includes("…"))
  expect(complete.length).toBeGreaterThan(4)
  for (const text of complete) {
    // `alter system` changes a server that other tests use.
    if (!text.startsWith("alter system")) await sql.unsafe(text)
  }
  await sql.end()
})
