import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { masterKeys } from "../src/keys.ts"

const meanwhile = vi.hoisted(() => ({ happens: () => {} }))
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>()
  const writeFileSync: typeof fs.writeFileSync = (...given) => {
    fs.writeFileSync(...given)
    const { happens } = meanwhile
    meanwhile.happens = () => {}
    happens()
  }
  return { ...fs, writeFileSync }
})

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "keys-"))
})
afterEach(() => {
  meanwhile.happens = () => {}
  rmSync(dataDir, { recursive: true })
})

const read = () => masterKeys({ dataDir, secretKeys: undefined }).map(({ secret }) => Redacted.value(secret))

describe("the master secret kept under DATA_DIR", () => {
  it("is the same at every start, and for nobody else to read", () => {
    const first = read()
    expect(read()).toEqual(first)
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
    expect(statSync(join(dataDir, "secret-key")).mode & 0o077).toBe(0)
  })
  it("is the one of whoever was first, when two processes make it at once: what that one sealed stays readable", () => {
    let others: ReadonlyArray<string> = []
    meanwhile.happens = () => {
      others = read()
    }
    expect(read()).toEqual(others)
    expect(readFileSync(join(dataDir, "secret-key"), "utf8")).toContain(others[0])
    expect(readdirSync(dataDir)).toEqual(["secret-key"])
  })
})
