import { describe, expect, it } from "vitest"
import { Unavailable } from "../../schema/errors.ts"
import type { Prepared } from "../../src/http/exchange.ts"
import { notRegistered } from "../../src/services/lookup-answer.ts"
import { LookupCache } from "../../src/services/lookup-cache.ts"
import { LookupLoads } from "../../src/services/lookup-loads.ts"

const head = { status: "200 OK", lines: "" }
const answer = (text: string): Prepared => ({ head, own: '\r\nETag: W/"1"', body: text })

describe("the lookup cache", () => {
  it("finds an id by its name and by every spelling it was sent in", () => {
    const cache = new LookupCache({ maxBytes: 10_000 })
    const entry = cache.put("a", answer("x"))
    cache.learnSpelling(entry, "%61")
    expect(cache.find("a")).toBe(entry)
    expect(cache.findSpelled("%61")).toBe(entry)
    cache.drop("a")
    expect(cache.findSpelled("%61")).toBeUndefined()
    expect(cache.bytes).toBe(0)
  })

  it("keeps only so many spellings of one id", () => {
    const cache = new LookupCache({ maxBytes: 100_000 })
    const entry = cache.put("a", answer("x"))
    for (let i = 0; i < 50; i++) cache.learnSpelling(entry, `spelling ${i}`)
    expect(cache.findSpelled("spelling 0")).toBeUndefined()
    expect(cache.findSpelled("spelling 49")).toBe(entry)
    expect(cache.bytes).toBeLessThan(2_500)
  })

  it("stays within its bytes whatever is put in", () => {
    const cache = new LookupCache({ maxBytes: 50_000 })
    for (let i = 0; i < 5_000; i++) {
      const entry = cache.put(`id ${i}`, i % 2 === 0 ? notRegistered : answer("y".repeat(i % 700)))
      cache.learnSpelling(entry, `spelled ${i}`)
      cache.learnSelection(entry, "?tags=0x1003", answer("z".repeat(i % 300)))
      expect(cache.bytes).toBeLessThanOrEqual(50_000)
    }
    expect(cache.size).toBeGreaterThan(10)
  })

  it("gives up what nobody asks for before what is asked for again and again", () => {
    const cache = new LookupCache({ maxBytes: 20_000 })
    cache.put("hot", answer("h"))
    for (let i = 0; i < 2_000; i++) {
      const hot = cache.find("hot")
      expect(hot).toBeDefined()
      hot!.wasUsed = true
      cache.put(`cold ${i}`, notRegistered)
    }
  })

  it("does not keep one answer that would push out all others", () => {
    const cache = new LookupCache({ maxBytes: 10_000 })
    cache.put("small", answer("s"))
    cache.put("huge", answer("x".repeat(5_000)))
    expect(cache.find("huge")).toBeUndefined()
    expect(cache.find("small")).toBeDefined()
  })

  it("forgets selections when the answer they were made of is replaced", () => {
    const cache = new LookupCache({ maxBytes: 10_000 })
    const entry = cache.put("a", answer("old"))
    cache.learnSelection(entry, "BTC", answer("old selection"))
    expect(cache.put("a", answer("new"))).toBe(entry)
    expect(entry.selections).toBeUndefined()
  })
})

describe("cold reads", () => {
  type Done = (rows: ReadonlyMap<string, string> | Unavailable) => void
  const world = (mayJoin = () => true) => {
    const statements: Array<{ keys: ReadonlyArray<string>; done: Done }> = []
    const kept = new Map<string, string | undefined>()
    const loads = new LookupLoads<string>({
      read: (keys, done) => void statements.push({ keys, done }),
      keep: (key, row) => void kept.set(key, row),
      mayJoin,
      maxKeysPerStatement: 3,
      maxStatements: 2,
      maxWaitingKeys: 5,
    })
    const told: Array<string | undefined | Unavailable> = []
    const want = (key: string) => loads.want(key, (outcome) => void told.push(outcome))
    return { statements, kept, loads, told, want }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it("of one turn share one statement, and of one key one read", async () => {
    const { kept, statements, told, want } = world()
    for (const key of ["a", "b", "a", "a"]) want(key)
    await turn()
    want("b")
    await turn()
    expect(statements.map(({ keys }) => keys)).toEqual([["a", "b"]])
    statements[0]!.done(new Map([["a", "A"]]))
    expect(told).toEqual(["A", "A", "A", undefined, undefined])
    expect([...kept]).toEqual([
      ["a", "A"],
      ["b", undefined],
    ])
  })

  it("never run more statements than allowed, and gather meanwhile", async () => {
    const { statements, told, want } = world()
    for (const key of ["a", "b", "c", "d"]) want(key)
    await turn()
    for (const key of ["e", "f", "g", "h", "i"]) want(key)
    await turn()
    expect(statements.map(({ keys }) => keys.length)).toEqual([3, 1])
    want("one too many")
    expect(told).toEqual([expect.any(Unavailable)])
    statements[0]!.done(new Map())
    await turn()
    expect(statements.map(({ keys }) => keys.length)).toEqual([3, 1, 3])
  })

  it("begun before a change are told but not kept, and not joined after it", async () => {
    const { kept, loads, statements, told, want } = world()
    want("a")
    await turn()
    loads.disown(["a"])
    want("a")
    await turn()
    expect(statements).toHaveLength(2)
    statements[1]!.done(new Map([["a", "new"]]))
    statements[0]!.done(new Map([["a", "old"]]))
    expect(told).toEqual(["new", "old"])
    expect(kept.get("a")).toBe("new")
  })

  it("are not joined under way while changes may go unheard", async () => {
    const { statements, want } = world(() => false)
    want("a")
    await turn()
    want("a")
    want("a")
    await turn()
    expect(statements).toHaveLength(2)
  })

  it("that fail tell everybody and keep nothing", async () => {
    const { kept, statements, told, want } = world()
    want("a")
    want("b")
    await turn()
    statements[0]!.done(new Unavailable({}))
    expect(told).toEqual([expect.any(Unavailable), expect.any(Unavailable)])
    expect(kept.size).toBe(0)
  })
})
