import { Effect, Layer } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import { AccountResponseCache } from "../../src/accounts/account-response-cache.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { Users } from "../../src/accounts/user-store.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { Sql } from "../../src/postgres/sql.ts"

/**
 * The tests use a fake clock. A cache entry is used for one minute, even if the system clock is changed in that time.
 */
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"] }))
afterEach(() => void vi.useRealTimers())

const hourMs = 3_600_000
const bus = Bus.layer({ link: undefined, leaseMs: 2000, renewMs: 500, markMs: 10_000, statementMs: 1000 })
const user = { id: "8b0a3a5c-57c1-4d3c-9f8e-0d0c1c8f0a11" } as DisplayUser
const caller = { id: user.id, active: true, epoch: 0, revokedSessions: new Set() }
const identities = Layer.mergeAll(
  Layer.succeed(CallerCache, { remembered: () => caller } as unknown as CallerCache["Service"]),
  Layer.succeed(Tokens, {
    verifyCached: () => ({ sub: user.id, sid: "", ep: 0 }),
  } as unknown as Tokens["Service"]),
)

const cacheUser = Effect.gen(function* () {
  const users = yield* Users
  users.watch()(user)
  return () => users.remembered(user.id) !== undefined
}).pipe(
  Effect.provide(Users.layer.pipe(Layer.provide([bus, Layer.succeed(Sql, {} as unknown as Sql["Service"])]))),
)
const cacheResponse = Effect.gen(function* () {
  const responses = yield* AccountResponseCache
  responses.watch(user.id)("{}")
  return () => responses.prepared({ getHeader: () => "Bearer token" } as never) !== undefined
}).pipe(Effect.provide(AccountResponseCache.layer.pipe(Layer.provide([bus, identities]))))

it.each([
  ["a user", cacheUser],
  ["the response of GET /account", cacheResponse],
] as const)("%s stays cached for one minute, even if the system clock is changed", async (_, cache) => {
  const isCached = await Effect.runPromise(cache)
  vi.setSystemTime(Date.now() + hourMs)
  expect(isCached()).toBe(true)
  vi.setSystemTime(Date.now() - 2 * hourMs)
  vi.advanceTimersByTime(59_000)
  expect(isCached()).toBe(true)
  vi.advanceTimersByTime(2000)
  expect(isCached()).toBe(false)
})
