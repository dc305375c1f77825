import { afterEach, describe, expect, it, vi } from "vitest"
import { BoundedMap } from "../../actors/bounded-map.ts"

const filled = (max: number, mayRemove?: (value: number) => boolean) => {
  const map = new BoundedMap<number>(max, mayRemove)
  for (let n = 0; n < max; n++) map.set(`${n}`, n)
  return map
}

afterEach(() => vi.restoreAllMocks())

describe("a bounded map", () => {
  it("removes its oldest entry when a new key exceeds the limit, and nothing when a known key is set again", () => {
    const map = filled(3)
    map.set("0", 10)
    expect([...map]).toEqual([
      ["0", 10],
      ["1", 1],
      ["2", 2],
    ])
    map.set("3", 3)
    map.set("4", 4)
    expect([...map.keys()]).toEqual(["2", "3", "4"])
  })

  it("treats a renewed entry as its newest entry", () => {
    const map = filled(3)
    map.renew("0", 0)
    map.set("3", 3)
    expect([...map.keys()]).toEqual(["2", "0", "3"])
  })

  it("removes the oldest entries first, also after deletions, after clear, and after many insertions", () => {
    const map = filled(4)
    map.delete("1")
    map.set("4", 4)
    map.set("5", 5)
    expect([...map.keys()]).toEqual(["2", "3", "4", "5"])
    map.clear()
    for (let n = 0; n < 1000; n++) map.set(`${n}`, n)
    expect([...map.keys()]).toEqual(["996", "997", "998", "999"])
  })

  it("keeps entries that must not be removed, and grows beyond its limit if no entry may be removed", () => {
    const inUse = new Set([0, 1])
    const map = filled(3, (value) => !inUse.has(value))
    map.set("3", 3)
    expect([...map.keys()].sort()).toEqual(["0", "1", "3"])
    inUse.add(3)
    map.set("4", 4)
    expect(map.size).toBe(4)
    inUse.clear()
    map.set("5", 5)
    expect(map.size).toBe(4)
  })

  it("seldom searches for its oldest entries, because it removes several at once, and stays nearly full", () => {
    const map = filled(6400)
    const walks = vi.spyOn(Map.prototype, Symbol.iterator)
    for (let n = 6400; n < 64_000; n++) map.set(`${n}`, n)
    expect(walks.mock.calls.length).toBeLessThan(1000)
    expect(map.size).toBeGreaterThan(6200)
    expect([map.has("63999"), map.has(`${64_000 - map.size}`), map.has(`${63_999 - map.size}`)]).toEqual([
      true,
      true,
      false,
    ])
  })
})
