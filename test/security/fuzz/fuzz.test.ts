import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { fuzz } from "./fuzzer.ts"
import { operations } from "./operations.ts"
import { Tally } from "./tally.ts"
import { findDamage, targetSettings } from "./target.ts"

const seed = 20_261_115
const requests = 1_000

const { environment, facts } = targetSettings()
const service = await serve(environment, { preparesData: true })
const tally = new Tally()
const port = Number(new URL(service.url).port)
await fuzz({ ...facts, port, sql: service.sql }, tally, {
  seed,
  lanes: 1,
  isOver: () => tally.requests >= requests,
})

describe(`a run of the fuzzer (seed ${seed})`, () => {
  it("gets a response to every request and live frame, and none is a server error or differs from its declaration", () => {
    expect(tally.violations).toEqual([])
    expect([tally.serverErrors, tally.hangs]).toEqual([0, 0])
    expect(tally.requests).toBeGreaterThanOrEqual(requests)
    expect(tally.liveFrames).toBeGreaterThan(0)
  })

  it("gets a successful response from at least 90 % of the operations", () => {
    // A new operation is reached if a journey in test/security/fuzz/journeys calls it.
    expect(tally.reached / operations.size, tally.unreached.join()).toBeGreaterThanOrEqual(0.9)
  })

  it("leaves a service that is ready, and a database without violated invariants", async () => {
    expect((await service.call("GET", "/ready")).status).toBe(200)
    expect(await findDamage(service.sql)).toEqual([])
  })
})
