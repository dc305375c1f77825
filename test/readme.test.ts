import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { freePort } from "./fixtures/free-port.ts"
import { startProgram, temporaryFolder } from "./fixtures/program.ts"
import { findProgram, packagesOf } from "./fixtures/suite/system-program.ts"

const root = join(import.meta.dirname, "..")
const readme = readFileSync(join(root, "README.md"), "utf8")
const tour = readme.split("## A tour in five minutes")[1]!.split("```sh\n")[1]!.split("```")[0]!

it("the README has at most 150 lines", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(150)
})

it.skipIf(findProgram("curl") === undefined)(
  `the tour of the README works, and its last output is the live event that reports the new owner (requires ${packagesOf("curl")})`,
  async () => {
    const [port, folder] = [await freePort(), temporaryFolder()]
    const service = startProgram({ PORT: String(port), DATA_DIR: folder, LOG_LEVEL: "Error" })
    try {
      await service.printed("docs")
      const script = tour
        .replace("http://localhost:3001", `http://localhost:${port}`)
        .replace("$(mktemp)", join(folder, "frames.jsonl"))
      const { HOME, PATH } = process.env
      const { stdout } = await promisify(execFile)("bash", ["-ec", script], {
        cwd: root,
        env: { HOME, PATH },
      })
      expect(stdout).toContain("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
      const [state] = readFileSync(join(folder, "frames.jsonl"), "utf8").split("\n")
      expect(JSON.parse(state!)).toMatchObject({ type: "state", state: { status: true } })
      expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({
        type: "event",
        event: "emoji_id.owner",
        data: { emoji_id: "🐙🎈🎲🍀" },
      })
    } finally {
      service.child.kill("SIGTERM")
      await service.ended
    }
  },
)
