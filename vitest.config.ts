import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/postgres.ts",
    // Loading the service takes longer than most files' tests: the files of a worker share what is loaded.
    isolate: false,
    setupFiles: "test/fixtures/clean-up.ts",
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 4,
    // What is waited for comes at once; on a busy machine at once may be seconds.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
})
