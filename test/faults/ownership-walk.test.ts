import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Deadlines } from "../../actors/deadlines.ts"
import { type DatabaseProxy, proxyTo } from "../fixtures/servers/database-proxy.ts"
import { type Answer, request, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { type Luck, seeded, takeWalk, walkSeed } from "../fixtures/walk.ts"
import { startWorker, type Worker } from "../fixtures/worker.ts"
import { atSandbox, until } from "../orders/shopper.ts"
import { makeIds } from "../transfers/transfer-service.ts"
import { findDisagreements, nowhere } from "./lookup-views.ts"
import { findOffences } from "./ownership-oracle.ts"
import { makeSteps } from "./ownership-steps.ts"

const rounds = 3
const actorsAtOnce = 8
const stepsWithoutFaults = 3

const environment = { SWEEP_INTERVAL_MS: "60000", TRANSFER_BLOCK_SECONDS: "1" }
const ids = Array.from({ length: 8 }, makeIds(120_000))
let home: TestService
let proxy: DatabaseProxy
let worker: Worker
/** The connection of the test itself. The faults do not affect it. */
let sql: postgres.Sql
let admin: TestUser
let users: ReadonlyArray<TestUser>
const log: Array<string> = []

beforeAll(async () => {
  home = await serve(environment, { peersPossible: true })
  const { database } = home
  if ("url" in database) throw new Error("the test database is reached by its socket")
  proxy = await proxyTo(database)
  worker = await startWorker(proxy.address, environment)
  sql = postgres({
    host: database.socketDir,
    port: database.port,
    database: database.database,
    username: "postgres",
    max: 4,
    connection: { application_name: "oracle" },
  })
  admin = await home.user({ role: "Admin" })
  users = await Promise.all(Array.from({ length: 4 }, () => home.user({ freeLimit: 100_000 })))
})
afterAll(async () => {
  await worker.kill()
  await sql.end()
})

const isKnown = ({ status }: Answer) => status < 500
/** True if a request had an unknown outcome. */
let isUncertain = false

const say = async (
  luck: Luck,
  user: TestUser,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const key = luck.chance(0.3) ? randomUUID() : undefined
  const ask = async () => {
    const { url } = luck.pick([home, worker])!
    const answer = await request(`${url}${path}`, method, {
      token: user.token,
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    }).catch(() => nowhere)
    const place = url === home.url ? "home" : "worker"
    log.push(
      `${place} ${method} ${path} ${JSON.stringify(body) ?? ""} -> ${answer.status} ${answer.body?.error ?? ""}`,
    )
    isUncertain ||= !isKnown(answer)
    return answer
  }
  const answer = await ask()
  // The request is repeated if its outcome is unknown, and sometimes if its outcome is known.
  return isKnown(answer) && !luck.chance(0.1) ? answer : ask()
}
const pay = (luck: Luck, session: string, action: string) =>
  atSandbox(luck.pick([home, worker])!, session, action).catch(() => nowhere)
const sweep = (luck: Luck) =>
  luck.chance(0.5)
    ? home.runtime.runPromise(Effect.flatMap(Deadlines, (deadlines) => deadlines.sweep))
    : Promise.resolve()

/** True while a fault runs. Faults run one at a time, so that each starts from a defined state. */
let isFaultRunning = false
const faults: ReadonlyArray<(luck: Luck) => Promise<unknown>> = [
  async () => {
    await worker.kill()
    worker = await startWorker(proxy.address, environment)
  },
  () => sql`select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and application_name <> 'oracle' and backend_type = 'client backend'`,
  async (luck) => {
    proxy.loseAnswers()
    await pause(luck.below(300))
    proxy.heal()
  },
  async () => proxy.cut(),
  async (luck) => {
    worker.stall()
    await pause(luck.below(2500))
    worker.goOn()
  },
]
const runFault = async (luck: Luck) => {
  if (isFaultRunning) return
  isFaultRunning = true
  await pause(luck.below(150))
  const place = luck.below(faults.length)
  log.push(`fault ${place} starts`)
  await faults[place]!(luck)
  log.push(`fault ${place} ends`)
  isFaultRunning = false
}

const findAllDisagreements = async () => {
  const views = { sql, users, ids }
  const [here, there] = await Promise.all([home, worker].map(({ url }) => findDisagreements(url, views)))
  return [...here!.map((one) => `home: ${one}`), ...there!.map((one) => `worker: ${one}`)]
}
/**
 * Waits until the responses and the tables agree. A statement with an unknown outcome can still commit; the caches
 * are then invalidated after the statement timeout.
 */
const expectAgreementEventually = async () => {
  const found = await until(findAllDisagreements, ({ length }) => length === 0)
  expect(found).toEqual([])
}
const isWebhookPending = async () =>
  (await sql`select 1 from sandbox_webhook where delivered_at is null`).length > 0

describe(`random changes in two processes during faults (WALK_SEED=${walkSeed})`, () => {
  it("lose no id, and changes acknowledged after the faults are visible immediately", async () => {
    const steps = makeSteps({ home, sql, admin, users, ids, say, pay, sweep })
    const tolerantSteps = steps.map(
      (step) => (luck: Luck) => step(luck).catch((error) => log.push(String(error))),
    )
    const calm = seeded(walkSeed)
    const check = async () => {
      await expectAgreementEventually()
      expect(await findOffences(sql)).toEqual([])
      expect(await sql`select ledger_audit()::int as cents`).toEqual([{ cents: 0 }])
      for (let n = 0; n < stepsWithoutFaults; n++) {
        isUncertain = false
        await calm.pick(steps)!(calm)
        if (isUncertain || (await isWebhookPending())) await expectAgreementEventually()
        else expect(await findAllDisagreements()).toEqual([])
      }
    }
    const often = Array.from({ length: 6 }, () => runFault)
    await takeWalk({ rounds, actorsAtOnce, steps: [...tolerantSteps, ...often], check, log })
    // If no request succeeded, the test would prove nothing.
    expect(log.filter((line) => / -> 200 /.test(line)).length).toBeGreaterThan(0)
  })
})
