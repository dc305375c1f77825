import { describe, expect, it } from "vitest"
import { Unavailable } from "../../../schema/errors.ts"
import { type LookupAnswer, missing, notRegistered } from "../../../src/directory/lookup/answer.ts"
import { LookupCache } from "../../../src/directory/lookup/cache.ts"
import { PendingLoads } from "../../../src/directory/lookup/pending-loads.ts"
import { StaticResponse } from "../../../src/http/response/static.ts"

const answer = (body: string): LookupAnswer => ({ own: '\r\nETag: W/"1"', body })
const make = (maxBytes = 1024 * 1024) => new LookupCache({ maxBytes, onRemoved: () => {} })
const selected = (text: string) => new StaticResponse({ code: 200, status: "200 OK", lines: "" }, "", text)

describe("the lookup cache", () => {
  it("finds an id by its usual encoding and by every spelling that was added for the id", () => {
    const cache = make()
    cache.put("🐙", answer("x"))
    expect(cache.findSpelled(encodeURIComponent("🐙"))).toBeDefined()
    expect(cache.findSpelled("%f0%9f%90%99")).toBeUndefined()
    cache.learnSpelling("🐙", "%f0%9f%90%99")
    cache.learnSpelling("🐙", "🐙")
    for (const spelling of ["%f0%9f%90%99", "🐙"]) {
      const found = cache.findSpelled(spelling)!
      expect(found.canonical).toBe("🐙")
      expect(found.toText()).toEqual(answer("x"))
    }
    cache.drop("🐙")
    for (const spelling of ["%F0%9F%90%99", "%f0%9f%90%99", "🐙"])
      expect(cache.findSpelled(spelling)).toBeUndefined()
  })

  it("stores a limited number of spellings and forgets the oldest spelling", () => {
    const cache = make()
    cache.put("a", answer("x"))
    for (let i = 0; i < 1_000; i++) cache.learnSpelling("a", `spelling ${i}`)
    expect(cache.findSpelled("spelling 0")).toBeUndefined()
    expect(cache.findSpelled("spelling 999")).toBeDefined()
  })

  it("returns the shared response `missing` for an id that is not registered", () => {
    const cache = make()
    cache.put("a", notRegistered)
    const found = cache.find("a")!
    expect(found.isRegistered).toBe(false)
    expect(found.response).toBe(missing)
    expect(found.toText()).toBe(notRegistered)
  })

  it("returns an answer that later lookups of other ids do not change", () => {
    const cache = make()
    cache.put("a", answer("A"))
    cache.put("b", answer("B"))
    const [a, b] = [cache.find("a")!, cache.find("b")!]
    b.views = 2
    expect(cache.find("c")).toBeUndefined()
    expect([a.toText().body, a.views, b.toText().body, b.views]).toEqual(["A", 0, "B", 2])
  })

  it("never uses more bytes than its limit", () => {
    const cache = make()
    for (let i = 0; i < 20_000; i++) {
      cache.put(`id ${i}`, i % 2 === 0 ? notRegistered : answer("y".repeat(i % 700)))
      expect(cache.bytes).toBeLessThanOrEqual(1024 * 1024)
    }
    expect(cache.size).toBeGreaterThan(1_000)
  })

  it("limits the total bytes of cached filtered responses, even if each of them is large", () => {
    const cache = make()
    const large = selected("z".repeat(20_000))
    let bytes = 0
    for (let id = 0; id < 16; id++) cache.put(`${id}`, answer("x"))
    for (let id = 0; id < 16; id++) {
      const found = cache.find(`${id}`)!
      for (let name = 0; name < 8; name++) cache.learnSelection(found, `?tags=0x5001&n=${name}`, large)
    }
    for (let id = 0; id < 16; id++) {
      const found = cache.find(`${id}`)!
      for (let name = 0; name < 8; name++)
        bytes += cache.selection(found, `?tags=0x5001&n=${name}`)?.body.length ?? 0
    }
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
  })

  it("removes the filtered responses of an id when the id's answer is replaced or removed", () => {
    const cache = make()
    for (const change of [() => cache.put("a", answer("new")), () => cache.drop("a"), () => cache.clear()]) {
      cache.put("a", answer("old"))
      const old = cache.find("a")!
      cache.learnSelection(old, "BTC", selected("old selection"))
      expect(cache.selection(old, "BTC")).toBeDefined()
      change()
      cache.put("a", answer("newest"))
      expect(cache.selection(cache.find("a")!, "BTC")).toBeUndefined()
    }
  })

  it("returns the counted views of an id exactly once, even after the id's answer was replaced", () => {
    const cache = make()
    cache.put("a", answer("x"))
    cache.find("a")!.views++
    cache.find("a")!.views++
    expect(cache.find("a")!.views).toBe(2)
    cache.put("a", answer("replaced by a longer one"))
    expect([cache.takeViews("a"), cache.takeViews("a"), cache.takeViews("b")]).toEqual([2, 0, 0])
  })
})

describe("pending loads of the lookup cache", () => {
  type Done = (rows: ReadonlyMap<string, string> | Unavailable) => void
  const setup = (mayJoin = () => true) => {
    const statements: Array<{ keys: ReadonlyArray<string>; done: Done }> = []
    const stored = new Map<string, string | undefined>()
    const loads = new PendingLoads<string>({
      read: (keys, done) => void statements.push({ keys, done }),
      store: (key, row) => void stored.set(key, row),
      mayJoin,
      maxKeysPerStatement: 3,
      maxStatements: 2,
      maxWaitingKeys: 5,
    })
    const outcomes: Array<string | undefined | Unavailable> = []
    const want = (key: string) => loads.want(key, (outcome) => void outcomes.push(outcome))
    return { statements, stored, loads, outcomes, want }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it("read all keys of one event loop iteration with one statement, and each key only once", async () => {
    const { outcomes, statements, stored, want } = setup()
    for (const key of ["a", "b", "a", "a"]) want(key)
    await turn()
    want("b")
    await turn()
    expect(statements.map(({ keys }) => keys)).toEqual([["a", "b"]])
    statements[0]!.done(new Map([["a", "A"]]))
    expect(outcomes).toEqual(["A", "A", "A", undefined, undefined])
    expect([...stored]).toEqual([
      ["a", "A"],
      ["b", undefined],
    ])
  })

  it("run at most two statements at a time, and collect further keys up to a limit", async () => {
    const { outcomes, statements, want } = setup()
    for (const key of ["a", "b", "c", "d"]) want(key)
    await turn()
    for (const key of ["e", "f", "g", "h", "i"]) want(key)
    await turn()
    expect(statements.map(({ keys }) => keys.length)).toEqual([3, 1])
    want("over the limit")
    expect(outcomes).toEqual([expect.any(Unavailable)])
    statements[0]!.done(new Map())
    await turn()
    expect(statements.map(({ keys }) => keys.length)).toEqual([3, 1, 3])
  })

  it("that started before a change do not store the old row, and a request after the change starts a new read", async () => {
    const { loads, outcomes, statements, stored, want } = setup()
    want("a")
    await turn()
    loads.invalidate(["a"])
    want("a")
    await turn()
    expect(statements).toHaveLength(2)
    statements[1]!.done(new Map([["a", "new"]]))
    statements[0]!.done(new Map([["a", "old"]]))
    expect(outcomes).toEqual(["new", "old"])
    expect(stored.get("a")).toBe("new")
  })

  it("are not joined by later requests while invalidations may not reach this process", async () => {
    const { statements, want } = setup(() => false)
    want("a")
    await turn()
    want("a")
    want("a")
    await turn()
    expect(statements).toHaveLength(2)
  })

  it("report a failure to all waiting requests and store nothing", async () => {
    const { outcomes, statements, stored, want } = setup()
    want("a")
    want("b")
    await turn()
    statements[0]!.done(new Unavailable({ retryAfterSeconds: 1 }))
    expect(outcomes).toEqual([expect.any(Unavailable), expect.any(Unavailable)])
    expect(stored.size).toBe(0)
  })
})
