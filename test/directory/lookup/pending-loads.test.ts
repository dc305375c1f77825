import { expect, it } from "vitest"
import { PendingLoads } from "../../../src/directory/lookup/pending-loads.ts"

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Requests the same key twice. `mayJoin` is false, as it is while a process possibly misses invalidations. The second
 * request therefore does not share the first read, and two statements are sent. `answer(n)` completes statement n.
 */
const readTwice = async () => {
  const statements: Array<(rows: ReadonlyMap<string, string>) => void> = []
  const stored = new Map<string, string | undefined>()
  const loads = new PendingLoads<string>({
    read: (_, done) => void statements.push(done),
    store: (key, row) => void stored.set(key, row),
    mayJoin: () => false,
    maxKeysPerStatement: 3,
    maxStatements: 2,
    maxWaitingKeys: 5,
  })
  for (let request = 0; request < 2; request++) {
    loads.want("a", () => {})
    await nextTurn()
  }
  expect(statements).toHaveLength(2)
  const answer = (n: number) => statements[n]?.(new Map([["a", "old"]]))
  return { loads, stored, answer }
}

it("rows from reads that started before an invalidation are not stored, even if two reads are running", async () => {
  const { answer, stored, loads } = await readTwice()
  loads.invalidate(["a"])
  answer(1)
  answer(0)
  expect(stored.size).toBe(0)
})

it("a row from a read that started before an invalidation is not stored, even if a later read finished first", async () => {
  const { answer, stored, loads } = await readTwice()
  answer(1)
  loads.invalidate("all")
  stored.clear()
  answer(0)
  expect(stored.size).toBe(0)
})
