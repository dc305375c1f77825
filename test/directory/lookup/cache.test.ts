import { describe, expect, it } from "vitest"
import { Unavailable } from "../../../schema/errors.ts"
import { type LookupAnswer, missing, notRegistered } from "../../../src/directory/lookup/answer.ts"
import { LookupCache } from "../../../src/directory/lookup/cache.ts"
import { PendingLoads } from "../../../src/directory/lookup/pending-loads.ts"
import { StaticResponse } from "../../../src/http/response/static.ts"

const answer = (body: string): LookupAnswer => ({ own: '\r\nETag: W/"1"', body })
const make = (maxBytes = 1024 * 1024) => new LookupCache({ maxBytes, lost: () => {} })
const selected = (text: string) => new StaticResponse({ status: "200 OK", lines: "" }, "", text)

describe("the lookup cache", () => {
  it("finds an id by its name, as most spell it and by every other spelling it has learnt", () => {
    const cache = make()
    cache.put("🐙", answer("x"))
    expect(cache.findSpelled(encodeURIComponent("🐙"))).toBe(true)
    expect(cache.findSpelled("%f0%9f%90%99")).toBe(false)
    cache.learnSpelling("🐙", "%f0%9f%90%99")
    cache.learnSpelling("🐙", "🐙")
    for (const spelling of ["%f0%9f%90%99", "🐙"]) {
      expect(cache.findSpelled(spelling)).toBe(true)
      expect(cache.canonical).toBe("🐙")
      expect(cache.read()).toEqual(answer("x"))
    }
    cache.drop("🐙")
    for (const spelling of ["%F0%9F%90%99", "%f0%9f%90%99", "🐙"])
      expect(cache.findSpelled(spelling)).toBe(false)
  })

  it("keeps only so many spellings", () => {
    const cache = make()
    cache.put("a", answer("x"))
    for (let i = 0; i < 1_000; i++) cache.learnSpelling("a", `spelling ${i}`)
    expect(cache.findSpelled("spelling 0")).toBe(false)
    expect(cache.findSpelled("spelling 999")).toBe(true)
  })

  it("answers for ids nobody has with the one answer for all of them", () => {
    const cache = make()
    cache.put("a", notRegistered)
    expect(cache.find("a")).toBe(true)
    expect(cache.isRegistered).toBe(false)
    expect(cache.answer).toBe(missing)
    expect(cache.read()).toBe(notRegistered)
  })

  it("stays within its bytes whatever is put in", () => {
    const cache = make()
    for (let i = 0; i < 20_000; i++) {
      cache.put(`id ${i}`, i % 2 === 0 ? notRegistered : answer("y".repeat(i % 700)))
      expect(cache.bytes).toBeLessThanOrEqual(1024 * 1024)
    }
    expect(cache.size).toBeGreaterThan(1_000)
  })

  it("keeps of all ids together no more bytes of selections than of answers, however large each is", () => {
    const cache = make()
    const large = selected("z".repeat(20_000))
    let bytes = 0
    for (let id = 0; id < 16; id++) cache.put(`${id}`, answer("x"))
    for (let id = 0; id < 16; id++) {
      cache.find(`${id}`)
      for (let name = 0; name < 8; name++) cache.learnSelection(`?tags=0x5001&n=${name}`, large)
    }
    for (let id = 0; id < 16; id++) {
      cache.find(`${id}`)
      for (let name = 0; name < 8; name++)
        bytes += cache.selection(`?tags=0x5001&n=${name}`)?.body.length ?? 0
    }
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
  })

  it("forgets selections when the answer they were made of is replaced or dropped", () => {
    const cache = make()
    for (const change of [() => cache.put("a", answer("new")), () => cache.drop("a"), () => cache.clear()]) {
      cache.put("a", answer("old"))
      cache.learnSelection("BTC", selected("old selection"))
      expect(cache.selection("BTC")).toBeDefined()
      change()
      cache.put("a", answer("newest"))
      expect(cache.selection("BTC")).toBeUndefined()
    }
  })

  it("hands the views of an id over once", () => {
    const cache = make()
    cache.put("a", answer("x"))
    expect([cache.addView(), cache.addView()]).toEqual([1, 2])
    cache.put("a", answer("replaced by a longer one"))
    expect([cache.takeViews("a"), cache.takeViews("a"), cache.takeViews("b")]).toEqual([2, 0, 0])
  })
})

describe("cold reads", () => {
  type Done = (rows: ReadonlyMap<string, string> | Unavailable) => void
  const world = (mayJoin = () => true) => {
    const statements: Array<{ keys: ReadonlyArray<string>; done: Done }> = []
    const kept = new Map<string, string | undefined>()
    const loads = new PendingLoads<string>({
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
