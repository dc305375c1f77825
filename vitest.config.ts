import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/fixtures/suite/longest-first.ts"
import { longer, patienceMs } from "./test/fixtures/suite/patience.ts"

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/suite/postgres.ts",
    // Loading the service takes longer than most files' tests: the files of a worker share what is loaded.
    isolate: false,
    setupFiles: "test/fixtures/suite/clean-up.ts",
    // `npm run proofs` runs the files *.proof.ts: checks that take long for what they find, see CONTRIBUTING.md.
    include: [process.env["PROOFS"] === "yes" ? "test/**/*.proof.ts" : "test/**/*.test.ts"],
    pool: "forks",
    // With more workers the cores are idle less, but the tests need more processor time: five need half as much again as
    // three. On two cores, four were fastest.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Tests wait for conditions: these limits only end a test that hangs. No test has a shorter one of its own.
    expect: { poll: { timeout: patienceMs } },
    testTimeout: 3 * patienceMs * longer,
    hookTimeout: 3 * patienceMs,
  },
})
