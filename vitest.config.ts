import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/postgres.ts",
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // A shared machine may starve a test of real processes and sockets once; twice is a fault.
    retry: process.env["CI"] === undefined ? 0 : 1,
  },
})
