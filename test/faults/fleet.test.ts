import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { redisBinary } from "../fixtures/servers/redis.ts"
import type { FaultName } from "./harness/faults/catalog.ts"
import { runHarness } from "./harness/harness.ts"

const seed = 38
const users = 6
const build = { program: pathToFileURL(join(import.meta.dirname, "../../dist/main.js")), nodeFlags: [] }

const planned = (fault: FaultName, member: number, ms: number) => ({
  ...{ fault, member, ms },
  afterMs: 1500,
  overlaps: false,
})

describe.skipIf(redisBinary === undefined)(
  "two processes under load, of which one or the database fails,",
  () => {
    it("lose no acknowledged write, do nothing twice and return no older value", async () => {
      const lines: Array<string> = []
      const { log, ran, violations } = await runHarness({
        seed,
        users,
        // `npm run faults` has the other faults.
        plan: [planned("kill -9 of a process", 0, 500), planned("Postgres stopped immediately", 0, 0)],
        builds: [build, build],
        // A repeated request waits for the lease of its key, which is twice this time.
        environments: [{ REQUEST_DEADLINE_SECONDS: "5" }, { REQUEST_DEADLINE_SECONDS: "5" }],
        logFile: join(tmpdir(), `faults-${seed}.jsonl`),
        say: (line) => lines.push(line),
      })
      expect(
        violations.found.map(({ during, invariant, what }) => `${invariant}, ${during}: ${what}`),
      ).toEqual([])
      expect(ran.length).toBe(2)
      expect(log.counts.ok).toBeGreaterThan(100)
      expect(log.lookups).toBeGreaterThan(100)
    })
  },
)
