import { expect, it } from "vitest"
import { LookupLoads } from "../../src/services/lookup-loads.ts"

it("a read begun before a change is not kept, also when another of the key was begun after it", async () => {
  const statements: Array<(rows: ReadonlyMap<string, string>) => void> = []
  const kept = new Map<string, string | undefined>()
  let mayJoin = false
  const loads = new LookupLoads<string>({
    read: (_, done) => void statements.push(done),
    keep: (key, row) => void kept.set(key, row),
    mayJoin: () => mayJoin,
    maxKeysPerStatement: 3,
    maxStatements: 2,
    maxWaitingKeys: 5,
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  // On probation: two who ask for the same id have a statement each.
  loads.want("a", () => {})
  await turn()
  loads.want("a", () => {})
  await turn()
  expect(statements).toHaveLength(2)
  // Another process changes the id; then this one may serve again and starts over.
  loads.disown(["a"])
  mayJoin = true
  loads.disown("all")
  statements[1]!(new Map([["a", "old"]]))
  statements[0]!(new Map([["a", "old"]]))
  expect(kept.size).toBe(0)
})

it("nor when the later read has been answered first", async () => {
  const statements: Array<(rows: ReadonlyMap<string, string>) => void> = []
  const kept = new Map<string, string | undefined>()
  const loads = new LookupLoads<string>({
    read: (_, done) => void statements.push(done),
    keep: (key, row) => void kept.set(key, row),
    mayJoin: () => false,
    maxKeysPerStatement: 3,
    maxStatements: 2,
    maxWaitingKeys: 5,
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  loads.want("a", () => {})
  await turn()
  loads.want("a", () => {})
  await turn()
  statements[1]!(new Map([["a", "old"]]))
  loads.disown("all")
  kept.clear()
  statements[0]!(new Map([["a", "old"]]))
  expect(kept.size).toBe(0)
})
