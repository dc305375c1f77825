import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SlabStorage } from "../../../src/directory/lookup/slab-storage.ts"

const make = (maxBytes = 256 * 1024) => {
  const removed = new Map<string, number>()
  const slabs = new SlabStorage({
    maxBytes,
    onRemoved: (key, views) => void removed.set(key, (removed.get(key) ?? 0) + views),
  })
  return { removed, slabs }
}
const own = '\r\nETag: W/"1"'
const read = (slabs: SlabStorage, key: string) => {
  const found = slabs.find(key)
  return found && { key: found.key, ...found.toText() }
}

describe("the slab storage of cached answers", () => {
  it("returns a stored answer unchanged as text and as bytes, even if the answer contains emoji", () => {
    const { slabs } = make()
    slabs.put("%F0%9F%90%99", own, '{"octopus":"🐙"}')
    expect(read(slabs, "%F0%9F%90%99")).toEqual({ key: "%F0%9F%90%99", own, body: '{"octopus":"🐙"}' })
    const found = slabs.find("%F0%9F%90%99")!
    expect(Buffer.from(found.body).toString()).toBe('{"octopus":"🐙"}')
    const into = new Uint8Array(100)
    expect(found.copyOwn(into, 7)).toBe(7 + own.length)
    expect(Buffer.from(into.subarray(7, 7 + own.length)).toString()).toBe(own)
  })

  it("does not find an answer under a similar key", () => {
    const { slabs } = make()
    slabs.put("abcd", own, "x")
    // The last key contains the character U+0162. Its low byte is "b", so the low bytes of this key spell the stored
    // key.
    for (const key of ["abc", "abcde", "abc\0", "abcD", "", "a\u0162cd"])
      expect(read(slabs, key)).toBeUndefined()
  })

  it("does not store an answer under a key that is not ASCII, too long or empty", () => {
    const { slabs } = make()
    for (const key of ["🐙", "é", "x".repeat(5000), ""]) expect(slabs.put(key, own, "x")).toBeUndefined()
    expect(slabs.count).toBe(0)
  })

  it("does not store a very large answer, and removes the older answer of the same key", () => {
    const { removed, slabs } = make()
    slabs.put("a", own, "small")!.views = 3
    expect(slabs.put("a", own, "x".repeat(100_000))).toBeUndefined()
    expect(read(slabs, "a")).toBeUndefined()
    expect([...removed]).toEqual([["a", 3]])
  })

  it("keeps an answer that is used often, even if thousands of other answers are stored", () => {
    const { slabs } = make()
    slabs.put("hot", own, "h".repeat(100))
    for (let n = 0; n < 20_000; n++) {
      slabs.put(`cold ${n}`, "", "")
      expect(read(slabs, "hot")?.body).toBe("h".repeat(100))
      slabs.find("hot")!.wasUsed = true
    }
    expect(slabs.count).toBeLessThan(20_000)
  })

  it("fills more than half of the allowed bytes and never exceeds the limit", () => {
    const maxBytes = 512 * 1024
    const { slabs } = make(maxBytes)
    for (let n = 0; n < 5_000; n++) {
      slabs.put(`key ${n}`, own, "y".repeat(n % 700))
      expect(slabs.bytes).toBeLessThanOrEqual(maxBytes)
    }
    expect(slabs.bytes).toBeGreaterThan(maxBytes / 2)
    expect(slabs.count).toBeGreaterThan(300)
  })

  it("finds only the current answer of each key, and counts every view exactly once", () => {
    const key = fc.integer({ min: 0, max: 60 }).map((n) => `key-${"k".repeat(n % 7)}${n}`)
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant("put"), key, fc.nat({ max: 9_000 })) },
      { weight: 6, arbitrary: fc.tuple(fc.constant("view"), key, fc.constant(0)) },
      { weight: 2, arbitrary: fc.tuple(fc.constant("drop"), key, fc.constant(0)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant("take"), key, fc.constant(0)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant("clear"), key, fc.constant(0)) },
    )
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
        const { removed, slabs } = make()
        const bodies = new Map<string, string>()
        let added = 0
        let taken = 0
        for (const [kind, name, size] of steps) {
          if (kind === "put") {
            const body = `${name}:${"z".repeat(size)}`
            bodies.set(name, body)
            slabs.put(name, own, body)
          } else if (kind === "drop") {
            bodies.delete(name)
            slabs.drop(name)
          } else if (kind === "clear") {
            bodies.clear()
            slabs.clear()
          } else {
            const found = slabs.find(name)
            if (found === undefined) continue
            expect(found.key).toBe(name)
            expect(found.toText().body).toBe(bodies.get(name))
            if (kind === "take") {
              taken += found.views
              found.views = 0
            } else {
              found.wasUsed = true
              found.views++
              added++
            }
          }
        }
        let stored = 0
        let count = 0
        for (const name of bodies.keys()) {
          const found = slabs.find(name)
          if (found === undefined) continue
          count++
          stored += found.views
        }
        expect(slabs.count).toBe(count)
        const returned = [...removed.values()].reduce((sum, views) => sum + views, 0)
        expect(stored + taken + returned).toBe(added)
      }),
      { numRuns: 200 },
    )
  })
})
