import { expect, it } from "vitest"
import { isLoopback } from "../../src/config/loopback.ts"

it.each([
  "localhost",
  "LOCALHOST",
  "127.0.0.1",
  "127.8.9.10",
  "::1",
  "[::1]",
  "0000:0000:0000:0000:0000:0000:0000:0001",
  "::ffff:127.0.0.1",
  "0000:0000:0000:0000:0000:ffff:7f00:0001",
])("the host '%s' is a loopback address", (host) => expect(isLoopback(host)).toBe(true))

it.each([
  "0.0.0.0",
  "::",
  "192.168.1.5",
  "::ffff:192.168.1.5",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "1127.0.0.1",
  "",
])("the host '%s' is not a loopback address", (host) => expect(isLoopback(host)).toBe(false))
