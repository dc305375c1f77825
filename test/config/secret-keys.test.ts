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

describe("the master key stored under DATA_DIR", () => {
  it("is the same at every start, and only the owner of the key file can read the file", () => {
    const first = read()
    expect(read()).toEqual(first)
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
    expect(statSync(join(dataDir, "secret-key")).mode & 0o077).toBe(0)
  })

  it("is not replaced if a second process tries to create the key file", () => {
    const first = read()
    makeKeyFile(dataDir, join(dataDir, "secret-key"))
    expect(read()).toEqual(first)
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
  })
})
