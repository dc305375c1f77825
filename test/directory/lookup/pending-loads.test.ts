import { expect, it } from "vitest"
import { PendingLoads } from "../../../src/directory/lookup/pending-loads.ts"

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** On probation: two who ask for the same id have a statement each. */
const readTwice = async () => {
  const statements: Array<(rows: ReadonlyMap<string, string>) => void> = []
  const kept = new Map<string, string | undefined>()
  const loads = new PendingLoads<string>({
    read: (_, done) => void statements.push(done),
    keep: (key, row) => void kept.set(key, row),
    mayJoin: () => false,
    maxKeysPerStatement: 3,
    maxStatements: 2,
    maxWaitingKeys: 5,
  })
  for (let asked = 0; asked < 2; asked++) {
    loads.want("a", () => {})
    await nextTurn()
  }
  expect(statements).toHaveLength(2)
  const answer = (n: number) => statements[n]?.(new Map([["a", "old"]]))
  return { loads, kept, answer }
}

it("a read begun before a change is not kept, also when another of the key was begun after it", async () => {
  const { answer, kept, loads } = await readTwice()
  loads.disown(["a"])
  answer(1)
  answer(0)
  expect(kept.size).toBe(0)
})

it("nor when the later read has been answered first", async () => {
  const { answer, kept, loads } = await readTwice()
  answer(1)
  loads.disown("all")
  kept.clear()
  answer(0)
  expect(kept.size).toBe(0)
})
