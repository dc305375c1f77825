import { Effect } from "effect"
import { expect, it } from "vitest"
import { makeGiveMissingKeys } from "../../src/keys/missing-keys.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()

it("housekeeping generates the keys one by one, so that other requests get a turn between them", async () => {
  const users = 40
  await service.sql`insert into app_user (email) select 'keyless' || n || '@example.com' from generate_series(1, ${users}::int) n`
  let longestMs = 0
  let at = performance.now()
  let isRunning = true
  const tick = () => {
    const now = performance.now()
    longestMs = Math.max(longestMs, now - at)
    at = now
    if (isRunning) setImmediate(tick)
  }
  setImmediate(tick)
  const beganAt = performance.now()
  await service.runtime.runPromise(Effect.flatten(makeGiveMissingKeys))
  const totalMs = performance.now() - beganAt
  isRunning = false
  expect(longestMs).toBeLessThan(totalMs / 3)
})
