import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { SlabStorage } from "../../../src/directory/lookup/slab-storage.ts"

const make = (maxBytes = 256 * 1024) => {
  const lost = new Map<string, number>()
  const slabs = new SlabStorage({
    maxBytes,
    lost: (key, views) => void lost.set(key, (lost.get(key) ?? 0) + views),
  })
  return { lost, slabs }
}
const own = '\r\nETag: W/"1"'
const read = (slabs: SlabStorage, key: string) =>
  slabs.find(key) ? { key: slabs.key, own: slabs.own, body: slabs.bodyText } : undefined

describe("answers in slabs", () => {
  it("come back as they were put, as text and as bytes, with emoji in them", () => {
    const { slabs } = make()
    slabs.put("%F0%9F%90%99", own, '{"octopus":"🐙"}')
    expect(read(slabs, "%F0%9F%90%99")).toEqual({ key: "%F0%9F%90%99", own, body: '{"octopus":"🐙"}' })
    expect(Buffer.from(slabs.body).toString()).toBe('{"octopus":"🐙"}')
    const into = new Uint8Array(100)
    expect(slabs.copyOwn(into, 7)).toBe(7 + own.length)
    expect(Buffer.from(into.subarray(7, 7 + own.length)).toString()).toBe(own)
  })

  it("are never found under a key that only resembles theirs", () => {
    const { slabs } = make()
    slabs.put("abcd", own, "x")
    // The last is what its low bytes would make of it.
    for (const key of ["abc", "abcde", "abc\0", "abcD", "", "a\u0162cd"])
      expect(read(slabs, key)).toBeUndefined()
  })

  it("are not kept under a key that is not ASCII, too long or empty", () => {
    const { slabs } = make()
    for (const key of ["🐙", "é", "x".repeat(5000), ""]) expect(slabs.put(key, own, "x")).toBe(false)
    expect(slabs.count).toBe(0)
  })

  it("that would fill half a block are not kept, and what they would replace goes", () => {
    const { lost, slabs } = make()
    slabs.put("a", own, "small")
    slabs.views = 3
    expect(slabs.put("a", own, "x".repeat(100_000))).toBe(false)
    expect(read(slabs, "a")).toBeUndefined()
    expect([...lost]).toEqual([["a", 3]])
  })

  it("that are asked for stay, whatever is put in and forgotten beside them", () => {
    const { slabs } = make()
    slabs.put("hot", own, "h".repeat(100))
    for (let n = 0; n < 20_000; n++) {
      slabs.put(`cold ${n}`, "", "")
      expect(read(slabs, "hot")?.body).toBe("h".repeat(100))
      slabs.use()
    }
    expect(slabs.count).toBeLessThan(20_000)
  })

  it("take no more than the bytes allowed, and use most of them", () => {
    const maxBytes = 512 * 1024
    const { slabs } = make(maxBytes)
    for (let n = 0; n < 5_000; n++) {
      slabs.put(`key ${n}`, own, "y".repeat(n % 700))
      expect(slabs.bytes).toBeLessThanOrEqual(maxBytes)
    }
    expect(slabs.bytes).toBeGreaterThan(maxBytes / 2)
    expect(slabs.count).toBeGreaterThan(300)
  })

  it("do as a map does, and no view is counted twice or lost without a word", () => {
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
        const { lost, slabs } = make()
        const bodies = new Map<string, string>()
        let seen = 0
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
          } else if (slabs.find(name)) {
            expect(slabs.key).toBe(name)
            expect(slabs.bodyText).toBe(bodies.get(name))
            if (kind === "take") {
              taken += slabs.views
              slabs.views = 0
            } else {
              slabs.use()
              slabs.views++
              seen++
            }
          }
        }
        let held = 0
        let count = 0
        for (const name of bodies.keys()) {
          if (!slabs.find(name)) continue
          count++
          held += slabs.views
        }
        expect(slabs.count).toBe(count)
        const told = [...lost.values()].reduce((sum, views) => sum + views, 0)
        expect(held + taken + told).toBe(seen)
      }),
      { numRuns: 200 },
    )
  })
})
