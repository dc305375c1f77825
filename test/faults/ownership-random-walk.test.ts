import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { Deadlines } from "../../actors/deadlines.ts"
import { type Answer, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { type Luck, takeWalk, walkSeed } from "../fixtures/walk.ts"
import { atSandbox } from "../orders/shopper.ts"
import { makeIds } from "../transfers/transfer-service.ts"
import { findOffences } from "./ownership-oracle.ts"
import { makeSteps } from "./ownership-steps.ts"

const rounds = 16
const actorsAtOnce = 8

const nextId = makeIds(170_000)
const ids = Array.from({ length: 7 }, nextId)
let nodes: ReadonlyArray<TestService>
let admin: TestUser
let users: ReadonlyArray<TestUser>
const log: Array<string> = []

beforeAll(async () => {
  const environment = { SWEEP_INTERVAL_MS: "60000", TRANSFER_BLOCK_SECONDS: "1", CART_TTL_SECONDS: "300" }
  const first = await serve(environment, { peersPossible: true })
  nodes = [first, await serve(environment, { database: first.database, peersPossible: true })]
  admin = await first.user({ role: "Admin" })
  users = await Promise.all(Array.from({ length: 4 }, () => first.user({ freeLimit: 1000 })))
})

const say = async (
  luck: Luck,
  user: TestUser,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const node = luck.pick(nodes)!
  const answer = await node.call(method, path, { token: user.token, ...(body === undefined ? {} : { body }) })
  log.push(`${method} ${path} ${JSON.stringify(body) ?? ""} -> ${answer.status} ${answer.body?.error ?? ""}`)
  return answer
}
const pay = (luck: Luck, session: string, action: string) => atSandbox(luck.pick(nodes)!, session, action)
const sweep = (luck: Luck) =>
  luck.pick(nodes)!.runtime.runPromise(Effect.flatMap(Deadlines, (deadlines) => deadlines.sweep))

describe(`random purchases, transfers, lootboxes and admin actions with few ids (WALK_SEED=${walkSeed})`, () => {
  it("keep every invariant of ownership and cause no 5xx response", async () => {
    const check = async () => expect(await findOffences(nodes[0]!.sql)).toEqual([])
    const [home] = nodes
    const steps = makeSteps({ home: home!, sql: home!.sql, admin, users, ids, say, pay, sweep })
    await takeWalk({ rounds, actorsAtOnce, steps, check, log })
    expect(log.filter((line) => / -> 5\d\d /.test(line))).toEqual([])
    // If few requests succeeded, the test would prove nothing.
    expect(log.filter((line) => / -> 200 /.test(line)).length).toBeGreaterThan(rounds)
  })
})
