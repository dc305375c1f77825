import { Effect, Layer } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import { AccountResponseCache } from "../../src/accounts/account-response-cache.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { Users } from "../../src/accounts/user-store.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { Sql } from "../../src/postgres/sql.ts"

/** What is kept for a minute is kept for a minute, whatever the machine's clock is set to meanwhile. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"] }))
afterEach(() => void vi.useRealTimers())

const hourMs = 3_600_000
const bus = Bus.layer({ transport: undefined, heartbeatMs: 250, leaseMs: 1500, statementMs: 1000 })
const user = { id: "8b0a3a5c-57c1-4d3c-9f8e-0d0c1c8f0a11" } as DisplayUser
const caller = { id: user.id, active: true, epoch: 0, revokedSessions: new Set() }
const identities = Layer.mergeAll(
  Layer.succeed(CallerCache, { remembered: () => caller } as unknown as CallerCache["Service"]),
  Layer.succeed(Tokens, {
    verifyCached: () => ({ sub: user.id, sid: "", ep: 0 }),
  } as unknown as Tokens["Service"]),
)

const keepUser = Effect.gen(function* () {
  const users = yield* Users
  users.watch()(user)
  return () => users.remembered(user.id) !== undefined
}).pipe(
  Effect.provide(Users.layer.pipe(Layer.provide([bus, Layer.succeed(Sql, {} as unknown as Sql["Service"])]))),
)
const keepAnswer = Effect.gen(function* () {
  const answers = yield* AccountResponseCache
  answers.watch(user.id)("{}")
  return () => answers.prepared({ getHeader: () => "Bearer token" } as never) !== undefined
}).pipe(Effect.provide(AccountResponseCache.layer.pipe(Layer.provide([bus, identities]))))

it.each([
  ["a user", keepUser],
  ["the answer about an account", keepAnswer],
] as const)("%s is kept for its time also when the clock is set back or forward", async (_, keep) => {
  const isKept = await Effect.runPromise(keep)
  vi.setSystemTime(Date.now() + hourMs)
  expect(isKept()).toBe(true)
  vi.setSystemTime(Date.now() - 2 * hourMs)
  vi.advanceTimersByTime(59_000)
  expect(isKept()).toBe(true)
  vi.advanceTimersByTime(2000)
  expect(isKept()).toBe(false)
})
