import { expect, it } from "vitest"
import { faultNames } from "./harness/faults/catalog.ts"
import { planFaults } from "./harness/faults/schedule.ts"
import { changesBetween, type Snapshot } from "./harness/keyed/database-changes.ts"
import { LiveLog } from "./harness/oracle/live-log.ts"
import { Violations } from "./harness/violations.ts"

const plan = (seed: number) => planFaults(seed, 10, 3)

it("the same seed plans the same faults, and another seed others", () => {
  expect(plan(1)).toEqual(plan(1))
  expect(plan(1)).not.toEqual(plan(2))
})

it("a plan contains every fault before it repeats one", () => {
  const names = plan(3).map(({ fault }) => fault)
  expect([...new Set(names.slice(0, faultNames.length))].sort()).toEqual([...faultNames].sort())
})

const epoch = "e"
const channel = "market"
const hear = (...frames: ReadonlyArray<Record<string, unknown>>) => {
  const violations = new Violations()
  const log = new LiveLog(violations, [channel])
  for (const frame of frames) {
    if (frame["type"] === "resume") log.asksFor(channel)
    else log.hear("A", { channel, ...frame })
  }
  return violations.found.map(({ what }) => what)
}
const subscribed = (offset: number, recovered: boolean) => ({ type: "subscribed", epoch, offset, recovered })
const event = (offset: number) => ({ type: "event", event: "market.purchased", offset })

it("a live client that misses no event, or is told so, violates nothing", () => {
  expect(hear(subscribed(4, false), event(5), { type: "resume" }, subscribed(5, true), event(6))).toEqual([])
  expect(hear(subscribed(4, false), event(5), { type: "resume" }, subscribed(9, false), event(10))).toEqual(
    [],
  )
})

it("a missing, a repeated and a wrongly recovered event are violations", () => {
  expect(hear(subscribed(4, false), event(6))).toEqual(["A sent event 6 of market, expected 5"])
  expect(hear(subscribed(4, false), event(5), event(5))).toEqual(["A sent event 5 of market, expected 6"])
  expect(hear(subscribed(4, false), { type: "resume" }, subscribed(5, true)).length).toBe(1)
})

it("the changes of the database do not depend on ids and times, but on the number of rows and on versions", () => {
  const table = (rows: Record<string, Record<string, unknown>>): Snapshot =>
    new Map([["entity", new Map(Object.entries(rows))]])
  const before = table({ a: { version: 1, updated_at: "now" } })
  const once = table({ a: { version: 2, updated_at: "later" }, x: {} })
  const twice = table({ a: { version: 3, updated_at: "later" }, y: {}, z: {} })
  expect(changesBetween(before, once)).toEqual(["entity: +1", "entity: version 1"])
  expect(changesBetween(before, twice)).toEqual(["entity: +2", "entity: version 2"])
})
