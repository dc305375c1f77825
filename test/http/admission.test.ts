import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { Endpoint, RawResponse } from "../../src/http/endpoint.ts"
import { makeAdmission } from "../../src/http/limits/admission.ts"
import type { WorkKind } from "../../src/http/route.ts"

/** The clock of the simulation, in milliseconds. */
let now = 0
let immediates: Array<() => void> = []
beforeEach(() => {
  now = 0
  immediates = []
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  vi.stubGlobal("performance", { now: () => now })
  vi.stubGlobal("setImmediate", (run: () => void) => immediates.push(run))
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const beginMs = 0.2
const answerMs = 5
const completeMs = 0.05

/**
 * Simulates an event loop. In each turn it runs the immediates, and then the poll phase: requests are answered, and new
 * ones arrive. Requests arrive `perSecond`; beginning and completing them takes time of the loop.
 */
const simulate = (perSecond: Partial<Record<WorkKind, number>>, ms: number) => {
  const admission = makeAdmission({ maxWaitMs: 2000, overloaded: () => ({ status: 503 }) })
  const answers: Array<{ readonly at: number; readonly respond: () => void }> = []
  const kinds = Object.entries(perSecond).map(([kind, rate]) => {
    const counts = { arrived: 0, begun: 0, served: 0, refused: 0 }
    const endpoint = admission.admit({
      method: "post",
      path: "/",
      headers: [],
      needsAddress: false,
      bodyLimitBytes: 0,
      work: kind as WorkKind,
      handle: (_request, respond) => {
        counts.begun++
        now += beginMs
        answers.push({ at: now + answerMs, respond: () => respond({ status: 200 }) })
        return () => true
      },
    } satisfies Endpoint)
    const respond = ({ status }: RawResponse) => {
      if (status === 503) counts.refused++
      else counts.served++
    }
    const arrive = () => {
      for (; counts.arrived < (now * rate) / 1000; counts.arrived++) {
        const facts = { id: "", method: "POST", path: "/", params: [], query: "", headers: {}, address: "" }
        if (endpoint.refuses?.()) counts.refused++
        else endpoint.handle({ ...facts, body: new Uint8Array(0), arrivedAt: now }, respond)
      }
    }
    return { kind, counts, arrive }
  })
  for (let turnAt = 0; now < ms; ) {
    vi.advanceTimersByTime(now - turnAt)
    turnAt = now
    for (const run of immediates.splice(0)) run()
    while ((answers[0]?.at ?? Number.POSITIVE_INFINITY) <= now) {
      now += completeMs
      answers.shift()?.respond()
    }
    for (const { arrive } of kinds) arrive()
    now += 0.1
  }
  return Object.fromEntries(kinds.map(({ counts, kind }) => [kind, counts]))
}

it("a flood of lookups that are not in the cache delays no other kind of request for long", () => {
  const rates = { lookup: 12_000, read: 50, batch: 50, login: 50, provider: 50, write: 50 }
  const { lookup, ...others } = simulate(rates, 5000)
  for (const [kind, { arrived, begun, refused }] of Object.entries(others)) {
    expect([kind, refused]).toEqual([kind, 0])
    // Only requests of the last turns still wait.
    expect(arrived - begun).toBeLessThan(10)
  }
  expect(lookup?.refused).toBeGreaterThan(0)
  expect(lookup?.begun).toBeGreaterThan(10_000)
})

it("kinds that are all flooded are begun equally often", () => {
  const rates = { lookup: 12_000, provider: 12_000, write: 12_000 }
  const counts = Object.values(simulate(rates, 2000)).map(({ begun }) => begun)
  expect(Math.min(...counts)).toBeGreaterThan(0.8 * Math.max(...counts))
})

it("one kind alone can use the whole budget", () => {
  const alone = simulate({ write: 12_000 }, 2000)
  const flooded = simulate({ lookup: 12_000, write: 12_000 }, 2000)
  expect(alone["write"]?.begun).toBeGreaterThan(1.5 * (flooded["write"]?.begun ?? 0))
})
