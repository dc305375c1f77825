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
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
})
