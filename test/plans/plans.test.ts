import { describe, expect, it } from "vitest"
import { largeTables, unknownTables } from "../../bench/stored/every-table.ts"
import { smallTables } from "../../bench/stored/tables/small-tables.ts"
import { driveJourneys, driveReads, Steps } from "./drive.ts"
import { driveLive } from "./drive-live.ts"
import { driveRare } from "./drive-rare.ts"
import { startDriven } from "./driven-service.ts"
import { notCalled, notDriven, planExceptions } from "./exceptions.ts"
import { findFaults } from "./plan-faults.ts"
import { readCalls, readPlans } from "./recorded-plans.ts"
import { findFunctions, findTemplates, placeOf, type SqlTemplate, sentBy } from "./sql-sources.ts"

/**
 * The service runs on tables with 15,000 rows each. These tests let it send every statement that it has, and read the
 * plans that Postgres used, also of the statements inside functions and triggers.
 */
const driven = await startDriven()
const steps = new Steps()
steps.ended("the start of a process")
const tally = await driveJourneys(driven, steps)
const wrongReads = await driveReads(driven, steps)
await driveLive(driven, steps)
await driveRare(driven, steps)
// Some statements are sent at shutdown.
await driven.second.stop()
await driven.service.stop()
steps.ended("the shutdown of a process")

const plans = await readPlans(driven.sql, driven.database, driven.since)
const isCalled = await readCalls(driven.sql, plans)
const templates = findTemplates()

const isLarge = (table: string): boolean => largeTables.includes(table)
const usedExceptions = new Set<object>()

interface Reported {
  readonly place: string
  readonly fault: string
  readonly text: string
  readonly requests: Set<string>
}

/** Collects the faults that no exception allows. The same fault of one statement is reported once. */
const reportFaults = (): ReadonlyArray<string> => {
  const reports = new Map<string, Reported>()
  for (const { endedAt, plan, text, within } of plans) {
    // The statement after `explain` is planned and not run.
    if (text.startsWith("explain ")) continue
    for (const { fault, table } of findFaults(plan, isLarge)) {
      const place = within ?? placeOf(templates, text) ?? "unknown source"
      const exception = planExceptions.find((one) => one.tables.includes(table) && place.includes(one.at))
      if (exception !== undefined) usedExceptions.add(exception)
      else {
        const key = `${place} ${table} ${fault.replaceAll(/\d+|'[^']*'/g, "")}`
        const report = reports.get(key) ?? { place, fault, text, requests: new Set() }
        report.requests.add(steps.at(endedAt))
        reports.set(key, report)
      }
    }
  }
  return [...reports.values()].map(({ fault, place, requests, text }) => {
    const [first, ...others] = requests
    const more = others.length === 0 ? "" : `, and ${others.length} others such as ${others.at(-1)}`
    return `${place} ${fault}. Sent by ${first}${more}: ${text.replaceAll(/\s+/g, " ").slice(0, 500)}`
  })
}
const faults = reportFaults()

/**
 * Returns the foreign keys without an index. Deleting a row that they refer to reads the whole table. Rows of `app_user`
 * are never deleted.
 */
const foreignKeysWithoutIndex = async (): Promise<ReadonlyArray<string>> => {
  const keys = await driven.sql<Array<{ key: string; table: string }>>`
    select conrelid::regclass || ': ' || pg_get_constraintdef(c.oid) as key, conrelid::regclass::text as table
      from pg_constraint c
     where contype = 'f' and confrelid <> 'app_user'::regclass and not exists (
             select 1 from pg_index i where i.indrelid = conrelid and conkey[1] = i.indkey[0])
     order by 1`
  return keys.filter(({ table }) => isLarge(table)).map(({ key }) => key)
}

describe("the plans of all statements", () => {
  it("are made with every table that can grow", async () => {
    expect(await unknownTables(driven.sql)).toEqual([])
    expect(largeTables.filter((table) => table in smallTables)).toEqual([])
  })

  it("come from requests that are answered as expected", () => {
    expect(tally.violations).toEqual([])
    expect(wrongReads).toEqual([])
  })

  it("are those of every statement in the source", () => {
    const isSent = sentBy(plans.map(({ text }) => text))
    // A template that starts with `effect.` is a condition on the row that the same statement has written.
    const isExcepted = ({ parts: [first = ""], place }: SqlTemplate) =>
      first.startsWith("effect.") || Object.keys(notDriven).some((beginning) => place.startsWith(beginning))
    // A statement that is missing here needs a request in test/plans/drive.ts, or a call in test/plans/drive-rare.ts.
    const missing = templates.filter((template) => !isExcepted(template) && !isSent(template))
    expect(missing.map(({ parts, place }) => `${place}: ${parts.join(" … ")}`)).toEqual([])
  })

  it("are those of every function that the source or another function calls", () => {
    expect(findFunctions().filter((name) => !isCalled(name) && !(name in notCalled))).toEqual([])
  })

  it("read a limited number of rows, whatever the size of the tables", () => {
    expect(faults).toEqual([])
  })

  it("find what refers to a deleted row by an index", async () => {
    expect(await foreignKeysWithoutIndex()).toEqual([])
  })

  it("need every exception", () => {
    expect(planExceptions.filter((one) => !usedExceptions.has(one))).toEqual([])
  })
})
