import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeKeyFile, masterKeys } from "../../src/config/secret-keys.ts"

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "keys-"))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const read = () => masterKeys({ dataDir, secretKeys: undefined }).map(({ secret }) => Redacted.value(secret))

describe("the master secret kept under DATA_DIR", () => {
  it("is the same at every start, and for nobody else to read", () => {
    const first = read()
    expect(read()).toEqual(first)
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
    expect(statSync(join(dataDir, "secret-key")).mode & 0o077).toBe(0)
  })

  it("stays the one of whoever was first, when another process that saw none makes one too", () => {
    const first = read()
    makeKeyFile(dataDir, join(dataDir, "secret-key"))
    expect(read()).toEqual(first)
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
  })
})
