import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/postgres.ts",
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Files share what a worker has loaded: loading the service anew for each took most of the time.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
})
