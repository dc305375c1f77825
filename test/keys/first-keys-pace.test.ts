import { Effect } from "effect"
import { expect, it } from "vitest"
import { makeGiveMissingKeys } from "../../src/keys/missing-keys.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()

it("housekeeping generates the keys one by one, so that other requests get a turn between them", async () => {
  const users = 40
  await service.sql`insert into app_user (email) select 'keyless' || n || '@example.com' from generate_series(1, ${users}::int) n`
  // CPU time, because on a busy machine another process can interrupt this one at any time.
  const cpu = () => process.cpuUsage().user
  let longest = 0
  let at = cpu()
  let isRunning = true
  const tick = () => {
    const now = cpu()
    longest = Math.max(longest, now - at)
    at = now
    if (isRunning) setImmediate(tick)
  }
  setImmediate(tick)
  const beganAt = cpu()
  await service.runtime.runPromise(Effect.flatten(makeGiveMissingKeys))
  const total = cpu() - beganAt
  isRunning = false
  expect(longest).toBeLessThan(total / 3)
})
